/** A rendition that was added to a set later: its files lie elsewhere, and are served below `added/JOB_ID/` of the set's address. */
export interface AddedRendition {
  jobId: string
  prefix: string
  setPrefix: string
}

/** Where a file is that is asked for below the address of a set: with an added rendition, or, as for every other file, in the set. */
export function placeOf(file: string, setPrefix: string, added: readonly AddedRendition[]): { prefix: string; file: string } {
  const [, jobId, rest] = /^added\/([1-9]\d{0,18})\/(.+)$/.exec(file) ?? []
  const rendition = jobId === undefined ? undefined : addedTo(setPrefix, added).find((one) => one.jobId === jobId)
  return rendition && rest !== undefined ? { prefix: rendition.prefix, file: rest } : { prefix: setPrefix, file }
}

export function addedTo(setPrefix: string, added: readonly AddedRendition[]): AddedRendition[] {
  return added.filter((one) => one.setPrefix === setPrefix)
}

/**
 * The master of a set with the variants of another one, whose addresses go there. Sound that the set has under the same name is the same sound,
 * made of the same source by the same settings: players then load it once.
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
