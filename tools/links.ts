import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { root } from './lib/run-command.ts'

/** Returns a line for each relative link of a Markdown file whose file or heading does not exist. */
export function linkProblems(): string[] {
  const files = execFileSync('git', ['ls-files', '*.md'], { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  const texts = new Map(files.filter((file) => existsSync(join(root, file))).map((file) => [file, readFileSync(join(root, file), 'utf8')]))
  return [...texts].flatMap(([file, text]) =>
    findLinks(text).flatMap((link) => {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? file : normalize(join(dirname(file), path))
      if (!existsSync(join(root, target))) return [`${file}: ${link}: there is no ${target}`]
      const targetText = texts.get(target)
      if (anchor === undefined || targetText === undefined || findAnchors(targetText).has(anchor)) return []
      return [`${file}: ${link}: ${target} has no such heading`]
    }),
  )
}

/** Returns the relative links of a Markdown text. */
export function findLinks(text: string): string[] {
  const links = [...withoutCode(text).matchAll(/\]\(\s*([^()\s]+)\)/g)].map(([, link = '']) => link)
  return links.filter((link) => !/^[a-z]+:|^\//.test(link))
}

/** Returns the anchors that GitHub gives to the headings of a Markdown text. */
export function findAnchors(text: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#{1,6} (.*)$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
    const anchor = plain.replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-')
    let unique = anchor
    for (let count = 1; anchors.has(unique); count++) unique = `${anchor}-${count}`
    anchors.add(unique)
  }
  return anchors
}

function withoutCode(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
}
