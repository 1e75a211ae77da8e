/** What the script element of an embed code says. */
export interface Embed {
  /** The player page, with everything that it is told. */
  src: string
  title: string
  /** CSS lengths; without a height, that follows from the width by the ratio. */
  width: string
  height: string | undefined
  ratio: string
  elementId: string | undefined
}

/** The player is that of the host from which the script itself came. */
export function readEmbed(script: string, data: Readonly<Record<string, string | undefined>>): Embed {
  const src = new URL(`./${encodeURIComponent(data['id'] ?? '')}`, script)
  const passed = { token: data['token'], referrer: data['referrerUrl'], player: data['player'], presentation: data['presentation'] }
  for (const [name, value] of Object.entries(passed)) if (value !== undefined) src.searchParams.set(name, value)
  return {
    src: src.href,
    title: data['title'] ?? 'Video',
    width: cssLength(data['width']) ?? '100%',
    height: cssLength(data['height']),
    ratio: /^\d+\/\d+$/.exec(data['ratio'] ?? '')?.[0] ?? '16/9',
    elementId: data['elementId'],
  }
}

function cssLength(length: string | undefined): string | undefined {
  const [, digits, percent] = /^(\d+)(%?)$/.exec(length ?? '') ?? []
  return digits === undefined ? undefined : `${digits}${percent || 'px'}`
}
