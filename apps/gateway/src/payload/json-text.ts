import { invalid } from '@vitascope/errors'
import { badField, fieldPath, malformed, Problems } from './refusals.ts'

const DEEPEST = 32
/** Of one object or array; each endpoint's own bounds are lower. */
const MOST_ITEMS = 5_000
/** Values and names in the whole text. The largest payload of any endpoint, a video with three objects of 10,000 bytes, has some 15,200. */
const MOST_NODES = 20_000

/**
 * Parses a JSON text in which nothing is left to guess: not too deep, no name twice in one object, no NUL, no half of a surrogate pair, no
 * number that would be rounded. `field` is where the text stood, when that was a field.
 */
export function parseJsonText(text: string, field?: string): unknown {
  const path = field === undefined ? [] : [field]
  const problems = new Problems()
  new StructureScan(path, problems).scan(text)
  if (problems.full) throw invalid(problems.found)
  const value = parse(text, field)
  noteValueProblems(value, path, problems)
  if (problems.found.length > 0) throw invalid(problems.found)
  return value
}

function parse(text: string, field: string | undefined): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw field === undefined ? malformed('the body is no JSON') : badField(field, 'must be JSON')
  }
}

interface Level {
  /** Names seen so far; undefined in an array. */
  names: Set<string> | undefined
  nameComes: boolean
  items: number
  /** The name or index under way. */
  at: string | number
}

/** One pass over the text before it is parsed: what `JSON.parse` would swallow (a name twice) or choke on (depth). */
class StructureScan {
  readonly #problems: Problems
  readonly #levels: Level[] = []
  readonly #path: readonly string[]
  #nodes = 0

  constructor(path: readonly string[], problems: Problems) {
    this.#path = path
    this.#problems = problems
  }

  /** Stops early where there is more wrong than is told. */
  scan(text: string): void {
    for (let i = 0; i < text.length && !this.#problems.full; i++) {
      switch (text[i]) {
        case '"': {
          const end = endOfText(text, i)
          this.#text(text, i, end)
          i = end
          break
        }
        case '{':
          this.#open({ names: new Set(), nameComes: true, items: 1, at: '' })
          break
        case '[':
          this.#open({ names: undefined, nameComes: false, items: 1, at: 0 })
          break
        case '}':
        case ']':
          this.#levels.pop()
          break
        case ',':
          this.#next()
          break
        case ':':
        case ' ':
        case '\t':
        case '\r':
        case '\n':
          break
        default:
          this.#count()
          i = endOfWord(text, i)
      }
    }
  }

  #count(): void {
    this.#nodes++
    if (this.#nodes > MOST_NODES) throw badField(this.#where([]), `must not have more than ${MOST_NODES} values and names in all`)
  }

  #open(level: Level): void {
    this.#count()
    this.#levels.push(level)
    if (this.#levels.length > DEEPEST) throw malformed(`JSON must not be nested deeper than ${DEEPEST} levels`)
  }

  #next(): void {
    const level = this.#levels.at(-1)
    if (!level) return
    level.items++
    if (level.items > MOST_ITEMS) throw badField(this.#where(this.#levels.slice(0, -1)), `must not have more than ${MOST_ITEMS} items`)
    if (level.names) level.nameComes = true
    else level.at = level.items - 1
  }

  #text(text: string, start: number, end: number): void {
    this.#count()
    const level = this.#levels.at(-1)
    if (!level?.names || !level.nameComes) return
    const name = nameOf(text.slice(start, end + 1))
    level.nameComes = false
    level.at = name
    if (level.names.has(name)) this.#problems.note(this.#where(this.#levels), 'must be there once')
    level.names.add(name)
  }

  #where(levels: readonly Level[]): string {
    return fieldPath([...this.#path, ...levels.map(({ at }) => at)]) || 'payload'
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Index of the closing quote, or of the end of a text that is cut off. */
function endOfText(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === QUOTE) return i
    if (unit === BACKSLASH) i++
  }
  return text.length
}

/** Index of the last character of a number, true, false or null, or of what stands in its place. */
function endOfWord(text: string, start: number): number {
  WORD.lastIndex = start
  WORD.test(text)
  return WORD.lastIndex - 1
}

const WORD = /[^"{}[\],: \t\r\n]+/y

/** Two spellings of one name (`"a"` and `"\u0061"`) are the same name. */
function nameOf(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1)
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted
  }
}

/** What makes parsed values unfit: each with the path to it. The depth is bounded by the scan before. */
function noteValueProblems(value: unknown, start: readonly string[], problems: Problems): void {
  const path: (string | number)[] = [...start]
  const note = (message: string) => problems.note(fieldPath(path) || 'payload', message)
  const walk = (part: unknown) => {
    const message = problemOf(part)
    if (message !== undefined) note(message)
    if (typeof part !== 'object' || part === null) return
    for (const [name, inner] of Object.entries(part)) {
      if (problems.full) return
      path.push(Array.isArray(part) ? Number(name) : name)
      if (!isText(name)) note('must have a well-formed name without NUL')
      walk(inner)
      path.pop()
    }
  }
  walk(value)
}

function problemOf(value: unknown): string | undefined {
  if (typeof value === 'string' && !isText(value)) return 'must be well-formed Unicode without NUL'
  if (typeof value !== 'number') return undefined
  if (!Number.isFinite(value)) return 'must not be a number out of range'
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return 'must not be a number above 2^53-1: send ids as strings'
  return undefined
}

function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}
