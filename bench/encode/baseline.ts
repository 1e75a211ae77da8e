import { readFile } from 'node:fs/promises'
import type { FfmpegTools } from '@vitascope/media'

/** Reads the baseline commands of `baseline.txt` by name, as argument lists. */
export async function readBaselines(source: string, { x264Asm }: Pick<FfmpegTools, 'x264Asm'>): Promise<Map<string, string[]>> {
  const sections = readSections(await readFile(new URL('baseline.txt', import.meta.url), 'utf8'))
  const fill = (text: string): string =>
    text.replace(/\{([a-z]+)\}/g, (_, name: string) => {
      if (name === 'source') return source
      if (name === 'asm') return x264Asm ? `:asm=${x264Asm}` : ''
      const part = sections.get(`${name}:`)
      if (!part) throw new Error(`baseline.txt has no section ${name}`)
      return fill(part.join(name === 'slaves' ? '|' : ' '))
    })
  const commands = [...sections].filter(([name]) => !name.endsWith(':'))
  return new Map(commands.map(([name, lines]) => [name, fill(lines.join(' ')).split(' ')]))
}

function readSections(text: string): Map<string, string[]> {
  const sections = new Map<string, string[]>()
  let lines: string[] = []
  for (const line of text.split('\n')) {
    const name = /^\[([a-z-]+:?)\]$/.exec(line)?.[1]
    if (name !== undefined) {
      lines = []
      sections.set(name, lines)
    } else if (line !== '' && !line.startsWith('#')) lines.push(line)
  }
  return sections
}
