/** A serialised piece of XML. */
export interface Markup {
  readonly markup: string
}

/**
 * Returns an element. Element and attribute names must be our own constants, values and texts may
 * be anything. Undefined attributes and children are omitted.
 */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | undefined>>,
  ...children: readonly (Markup | string | undefined)[]
): Markup {
  const attributeTexts = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}="${attributeText(value)}"`],
  )
  const inner = children.map((child) => (child === undefined ? '' : typeof child === 'string' ? text(child) : child.markup)).join('')
  return { markup: inner === '' ? `<${name}${attributeTexts.join('')}/>` : `<${name}${attributeTexts.join('')}>${inner}</${name}>` }
}

export function xmlDocument(root: Markup): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${root.markup}\n`
}

/** Characters that XML 1.0 cannot represent. They become U+FFFD. */
const UNWRITABLE = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '\r': '&#13;' }

/** Escapes text. A literal carriage return would be parsed as a line feed. */
function text(value: string): string {
  return value.replace(UNWRITABLE, '\ufffd').replace(/[&<>"\r]/g, (character) => ENTITIES[character] ?? character)
}

/** Escapes an attribute value. Literal white space would be parsed as a space. */
function attributeText(value: string): string {
  return text(value).replaceAll('\t', '&#9;').replaceAll('\n', '&#10;')
}
