/** Options that the script element of an embed code sets. */
export interface Embed {
  /** URL of the player page, including its query. */
  src: string
  title: string
  /** CSS lengths. Without a height, the height follows from the width and the aspect ratio. */
  width: string
  height: string | undefined
  ratio: string
  elementId: string | undefined
}

/** Reads the options. The player page is served by the host of the script. */
export function readEmbed(script: string, data: Readonly<Record<string, string | undefined>>): Embed {
  const src = new URL(`./${encodeURIComponent(data['id'] ?? '')}`, script)
  const parameters = { token: data['token'], referrer: data['referrerUrl'], player: data['player'], presentation: data['presentation'] }
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) src.searchParams.set(name, value)
  return {
    src: src.href,
    title: data['title'] ?? 'Video',
    width: parseCssLength('data-width', data['width']) ?? '100%',
    height: parseCssLength('data-height', data['height']),
    ratio: /^\d+\/\d+$/.exec(data['ratio'] ?? '')?.[0] ?? '16/9',
    elementId: data['elementId'],
  }
}

/** Returns a CSS length. Reports an invalid length in the console and returns undefined. */
function parseCssLength(attribute: string, length: string | undefined): string | undefined {
  if (length === undefined) return undefined
  const [, digits, percent] = /^(\d+)(%?)$/.exec(length) ?? []
  if (digits !== undefined) return `${digits}${percent || 'px'}`
  console.warn(`Vitascope: ${attribute} must be a number of pixels such as 640, or a percentage such as 100%. "${length}" is ignored.`)
  return undefined
}
