/** An element without content, safe in any page: `htmlElement('iframe', { src, title })`. Attributes that are undefined are left out. */
export function htmlElement(name: 'iframe' | 'script', attributes: Readonly<Record<string, string | undefined>>): string {
  const written = Object.entries(attributes).flatMap(([attribute, value]) =>
    value === undefined ? [] : value === '' ? [` ${attribute}`] : [` ${attribute}="${escapeAttribute(value)}"`],
  )
  return `<${name}${written.join('')}></${name}>`
}

/** Also for a page that puts the code into a script's text, where a line may end at U+2028. */
function escapeAttribute(value: string): string {
  return value.replaceAll(/[&<>"'`\t\n\r\u2028\u2029]/g, (character) => `&#x${character.charCodeAt(0).toString(16)};`)
}
