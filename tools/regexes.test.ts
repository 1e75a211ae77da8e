// Faults: B19
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { createContext, Script } from 'node:vm'
import { expect, test } from '@jest/globals'
import { parseSync } from '@swc/core'
import { recordFigure, threadCpuTimeMs } from '@vitascope/testing'
import { root } from './lib/run-command.ts'

/**
 * Length of the attack texts: 64 KiB. Only a caption file can be longer, and it is parsed line by
 * line.
 */
const ATTACK_LENGTH = 65_536
/**
 * Maximum CPU time. The goal is 20 ms. The limit is ten times that, because a busy machine has less
 * cache for each process. Backtracking takes seconds.
 */
const LIMIT_MS = 200
/** A match of a pattern with nested repetition would never end. */
const TIMEOUT_MS = 5_000
const match = new Script('regex.test(text)')
const matchInput = createContext({ regex: /x/, text: '' })

interface Pattern {
  file: string
  source: string
  flags: string
}

test('every regular expression of the services and libs is fast on attack texts', () => {
  const patterns = ['apps', 'libs'].flatMap((folder) => listSourceFiles(join(root, folder))).flatMap(parsePatterns)
  expect(patterns.length).toBeGreaterThan(50)
  let slowestMs = 0
  const slow = patterns.flatMap(({ file, source, flags }) => {
    const regex = new RegExp(source, flags.replaceAll(/[gy]/g, ''))
    const times = createAttackTexts(source).map((text) => ({ text, ms: measureMs(regex, text) }))
    const worst = times.toSorted((a, b) => b.ms - a.ms)[0]
    slowestMs = Math.max(slowestMs, worst?.ms ?? 0)
    return worst && worst.ms > LIMIT_MS ? [`${file} /${source}/${flags}: ${worst.ms.toFixed(0)} ms over ${worst.text.slice(0, 20)}…`] : []
  })
  recordFigure('B19', `${patterns.length} patterns, the slowest in ${slowestMs.toFixed(1)} ms`)
  expect(slow).toEqual([])
}, 300_000)

/**
 * Returns the CPU time of a match in milliseconds. If it is above the limit, the function matches
 * again and returns the shorter time. A match that takes longer than `TIMEOUT_MS` is ended.
 */
function measureMs(regex: RegExp, text: string): number {
  const measureOnce = () => {
    Object.assign(matchInput, { regex, text })
    const start = threadCpuTimeMs()
    try {
      match.runInContext(matchInput, { timeout: TIMEOUT_MS })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    }
    return threadCpuTimeMs() - start
  }
  const first = measureOnce()
  return first > LIMIT_MS && first < TIMEOUT_MS ? Math.min(first, measureOnce()) : first
}

/**
 * Returns attack texts: repetitions of the pattern's own literals, followed by an end that it
 * cannot match.
 */
function createAttackTexts(source: string): string[] {
  const literals = source.replaceAll(/\\[dDwWsSbBnrtux]|[\\^$.*+?()[\]{}|]/g, ' ').split(/\s+/)
  const pieces = new Set([
    'a',
    '0',
    ' ',
    '\t',
    '-',
    '.',
    ':',
    '/',
    '<',
    '"',
    '\\',
    '1a',
    'a ',
    'a.',
    '0.',
    ': ',
    ...literals.filter(Boolean),
  ])
  return [...pieces].flatMap((piece) => {
    const long = piece.repeat(Math.ceil(ATTACK_LENGTH / piece.length)).slice(0, ATTACK_LENGTH)
    return [`${long}\u0001`, `\u0001${long}\u0001`]
  })
}

function parsePatterns(file: string): Pattern[] {
  const patterns: Pattern[] = []
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { type, pattern, flags } = node as { type?: string; pattern?: string; flags?: string }
    if (type === 'RegExpLiteral' && pattern !== undefined)
      patterns.push({ file: relative(root, file), source: pattern, flags: flags ?? '' })
    for (const inner of Object.values(node)) visit(inner)
  }
  visit(parseSync(readFileSync(file, 'utf8'), { syntax: 'typescript' }).body)
  return patterns
}

function listSourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => /\/src\//.test(file) && !/node_modules|\/gen\/|\/dist\//.test(file))
}
