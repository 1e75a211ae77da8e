export const VISIBILITIES = ['public', 'unlisted', 'private'] as const
export type Visibility = (typeof VISIBILITIES)[number]

/** Details of a video that the user enters. */
export interface VideoDetails {
  title: string
  description: string
  visibility: Visibility
}

export function isVisibility(value: unknown): value is Visibility {
  return VISIBILITIES.some((visibility) => visibility === value)
}

const MAX_TITLE_LENGTH = 255

/**
 * Returns the title that a file name suggests: without its extension, with spaces between words.
 */
export function suggestTitle(fileName: string): string {
  const name = fileName.replace(/\.[A-Za-z0-9]{1,5}$/, '')
  const words = /\s/.test(name) ? name : name.replace(/_+/g, ' ')
  return (words.trim() || fileName).slice(0, MAX_TITLE_LENGTH)
}

/**
 * Returns the payload of the request that changes the stored details into the wanted ones. It is
 * empty if nothing changes. An empty title is not sent, because each video has a title.
 */
export function changedDetails(stored: VideoDetails, wanted: VideoDetails): Record<string, string> {
  const title = wanted.title.trim()
  return {
    ...(title !== '' && title !== stored.title && { video_title: title, media_title: title }),
    ...(wanted.description !== stored.description && { description: wanted.description }),
    ...(wanted.visibility !== stored.visibility && { visibility: wanted.visibility }),
  }
}
