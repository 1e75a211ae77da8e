/** Returns the relative links of a Markdown text, without those in code. */
export function findLinks(text: string): string[] {
  const links = [...withoutCode(text).matchAll(/\]\(\s*([^()\s]+)\)/g)].map(([, link = '']) => link)
  return links.filter((link) => !/^[a-z]+:|^\//.test(link))
}

/** Returns the first heading of a Markdown text and its first paragraph, in plain text. */
export function findHeading(text: string): { title: string; summary: string } {
  const [, heading = '', rest = ''] = /^# (.*)\n([\s\S]*)/m.exec(text) ?? []
  const paragraph = rest.split(/\n{2,}/).find((part) => /^[A-Z`[]/.test(part.trim())) ?? ''
  return { title: toPlainText(heading), summary: toPlainText(paragraph) }
}

/** Returns the anchor that GitHub gives to a heading. */
export function toAnchor(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
}

function toPlainText(text: string): string {
  return text
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/[`*]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
}
