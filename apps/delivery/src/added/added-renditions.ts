/**
 * A rendition that was added to a set later. Its files are stored elsewhere and are served under
 * `added/JOB_ID/` of the set's URL.
 */
export interface AddedRendition {
  jobId: string
  prefix: string
  setPrefix: string
}

/** Images of the picture that was set for a video. They are served below `posters/JOB_ID/` of each set. */
export interface PosterLocation {
  jobId: string
  prefix: string
}

/** Returns the storage location of a file under the URL of a set: in an added rendition, in the images of the picture, or else in the set. */
export function locateFile(
  file: string,
  setPrefix: string,
  { added, poster }: { added: readonly AddedRendition[]; poster: PosterLocation | undefined },
): { prefix: string; file: string } {
  const image = parsePosterPath(file)
  if (image && image.jobId === poster?.jobId) return { prefix: poster.prefix, file: image.file }
  const [, jobId, rest] = /^added\/([1-9]\d{0,18})\/(.+)$/.exec(file) ?? []
  const rendition = jobId === undefined ? undefined : renditionsAddedTo(setPrefix, added).find((candidate) => candidate.jobId === jobId)
  return rendition && rest !== undefined ? { prefix: rendition.prefix, file: rest } : { prefix: setPrefix, file }
}

/** Returns true for an image of another picture than that of the policy. */
export function isOtherPoster(file: string, poster: PosterLocation | undefined): boolean {
  const image = parsePosterPath(file)
  return image !== undefined && image.jobId !== poster?.jobId
}

function parsePosterPath(path: string): { jobId: string; file: string } | undefined {
  const [, jobId, file] = /^posters\/([1-9]\d{0,18})\/(.+)$/.exec(path) ?? []
  return jobId === undefined || file === undefined ? undefined : { jobId, file }
}

export function renditionsAddedTo(setPrefix: string, added: readonly AddedRendition[]): AddedRendition[] {
  return added.filter((rendition) => rendition.setPrefix === setPrefix)
}

/**
 * Returns the master playlist of a set with the variants of an added rendition, whose URLs point
 * there. An audio group of the same name has identical audio (same source and settings), so the
 * set's group is used and players load it once.
 */
export function withVariants(master: string, { jobId, text }: { jobId: string; text: string }): string {
  const groups = new Set([...master.matchAll(/^#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="([^"]*)"/gm)].map(([, group]) => group))
  const folder = `../added/${jobId}/hls`
  const media: string[] = []
  const variants: string[] = []
  for (const line of text.split('\n')) {
    const [, group] = /^#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="([^"]*)"/.exec(line) ?? []
    if (group !== undefined) {
      if (!groups.has(group)) media.push(line.replace(/URI="([^"]*)"/, (_, uri: string) => `URI="${folder}/${uri}"`))
    } else if (line.startsWith('#EXT-X-STREAM-INF:')) variants.push(line)
    else if (line !== '' && !line.startsWith('#')) variants.push(`${folder}/${line}`)
  }
  const lines = master.trimEnd().split('\n')
  const first = lines.findIndex((line) => line.startsWith('#EXT-X-STREAM-INF:'))
  if (first === -1) return master
  return `${[...lines.slice(0, first), ...media, ...lines.slice(first), ...variants].join('\n')}\n`
}
