import type { SearchData, ShareData } from './share-data.ts'

/**
 * Returns the script element with the JSON-LD `VideoObject` (schema.org) of a public video, and
 * none for any other page. Browsers do not run it, so the Content Security Policy of the page does
 * not concern it.
 */
export function videoObject({ id, title, description, language, images, search }: ShareData, publicUrl: string): string[] {
  if (search === undefined) return []
  const { uploadTime, durationSeconds, contentUrl, chapters } = search
  const pageUrl = `${publicUrl}/player/${id}`
  const object = {
    '@context': 'https://schema.org',
    '@type': 'VideoObject',
    name: title || 'Video',
    ...(description !== '' && { description }),
    ...(images.length > 0 && { thumbnailUrl: images.map(({ url }) => url) }),
    uploadDate: uploadTime.toISOString(),
    ...(durationSeconds > 0 && { duration: isoDuration(durationSeconds) }),
    embedUrl: pageUrl,
    contentUrl,
    ...(language !== '' && { inLanguage: language }),
    ...(chapters.length > 0 && { hasPart: toClips(chapters, durationSeconds, pageUrl) }),
  }
  // A `<` in a text could end the element or start a comment in it.
  const json = JSON.stringify(object).replaceAll('<', '\\u003c')
  return [`<script type="application/ld+json">${json}</script>`]
}

/** Returns the chapters as parts to which search engines link. */
function toClips(chapters: SearchData['chapters'], durationSeconds: number, pageUrl: string): object[] {
  return chapters.map(({ title, startMs }, index) => {
    const start = startMs / 1_000
    const next = chapters[index + 1]
    const end = next ? next.startMs / 1_000 : durationSeconds
    return { '@type': 'Clip', name: title, startOffset: start, ...(end > start && { endOffset: end }), url: `${pageUrl}#t=${start}` }
  })
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
