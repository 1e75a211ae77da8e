/** A piece of XML that is written already. */
export interface Markup {
  readonly markup: string
}

/** An element. Its name and the names of attributes are constants of ours; values and texts may be anything. Absent ones are left out. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | undefined>>,
  ...children: readonly (Markup | string | undefined)[]
): Markup {
  const written = Object.entries(attributes).flatMap(([key, value]) => (value === undefined ? [] : [` ${key}="${attributeText(value)}"`]))
  const inner = children.map((child) => (child === undefined ? '' : typeof child === 'string' ? text(child) : child.markup)).join('')
  return { markup: inner === '' ? `<${name}${written.join('')}/>` : `<${name}${written.join('')}>${inner}</${name}>` }
}

export function xmlDocument(root: Markup): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root.markup}\n`
}

/** What XML 1.0 has no way to write; it shows as U+FFFD. */
const UNWRITABLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' }

/** Readers turn a plain carriage return into a line feed. */
function text(plain: string): string {
  return plain.replace(UNWRITABLE, '\ufffd').replace(/[&<>"\r]/g, (character) => ENTITIES[character] ?? character)
}

/** Readers turn every white space of an attribute into a blank. */
function attributeText(plain: string): string {
  return text(plain).replaceAll('\t', '&#9;').replaceAll('\n', '&#10;')
}
