import type { ShareData } from './share-data.ts'

/**
 * Returns the script element with the JSON-LD `VideoObject` (schema.org) of a public video, and
 * none for any other page. Browsers do not run it, so the Content Security Policy of the page does
 * not concern it.
 */
export function videoObject({ id, title, description, language, images, search }: ShareData, publicUrl: string): string[] {
  if (search === undefined) return []
  const { uploadTime, durationSeconds, contentUrl } = search
  const object = {
    '@context': 'https://schema.org',
    '@type': 'VideoObject',
    name: title || 'Video',
    ...(description !== '' && { description }),
    ...(images.length > 0 && { thumbnailUrl: images.map(({ url }) => url) }),
    uploadDate: uploadTime.toISOString(),
    ...(durationSeconds > 0 && { duration: isoDuration(durationSeconds) }),
    embedUrl: `${publicUrl}/player/${id}`,
    contentUrl,
    ...(language !== '' && { inLanguage: language }),
  }
  // A `<` in a text could end the element or start a comment in it.
  const json = JSON.stringify(object).replaceAll('<', '\\u003c')
  return [`<script type="application/ld+json">${json}</script>`]
}

/** Returns an ISO 8601 duration such as `PT1H2M3S`, rounded to seconds and at least one second. */
export function isoDuration(seconds: number): string {
  const total = Math.max(1, Math.round(seconds))
  const parts = [
    [Math.floor(total / 3_600), 'H'],
    [Math.floor(total / 60) % 60, 'M'],
    [total % 60, 'S'],
  ] as const
  return `PT${parts.map(([count, unit]) => (count === 0 ? '' : `${count}${unit}`)).join('')}`
}
