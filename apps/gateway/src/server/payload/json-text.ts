import { invalid } from '@vitascope/errors'
import { isStorable } from '@vitascope/request'
import { fieldPath, invalidField, malformed, Problems } from './field-errors.ts'
import { MalformedItem } from './lenient-list.ts'

const MAX_DEPTH = 32
/** Maximum number of items of one object or array. The bounds of each endpoint are lower. */
const MAX_ITEMS = 5_000
/**
 * Maximum number of values and names in the text. The largest payload of an endpoint, a video with
 * three objects of 10,000 bytes, has about 15,200.
 */
const MAX_NODES = 20_000

type Path = readonly (string | number)[]

/** Receives the problems of a text with their paths. */
interface Findings {
  /** Adds a problem. Returns false to end the search. */
  addProblem(path: Path, message: string): boolean
  /**
   * Called when a bound is exceeded: the depth, the items of one list or object, or the values of
   * the whole text. It is called again for each further value.
   */
  exceeded(bound: 'depth' | 'items' | 'nodes', path: Path, message: string): void
}

/**
 * Parses a JSON text strictly. Rejects excessive depth, duplicate names in one object, NUL, lone
 * surrogates and numbers that would be rounded. `field` is the name of the field that contained the
 * text, if any.
 */
export function parseJsonText(text: string, field?: string): unknown {
  const problems = new Problems()
  const formatField = (path: Path) => fieldPath([...(field === undefined ? [] : [field]), ...path]) || 'payload'
  const findings: Findings = {
    addProblem(path, message) {
      problems.add(formatField(path), message)
      return !problems.isFull
    },
    exceeded(bound, path, message) {
      throw bound === 'depth' ? malformed(message) : invalidField(formatField(bound === 'nodes' ? [] : path), message)
    },
  }
  if (!new StructureScan(findings).scan(text)) throw invalid(problems.list)
  const value = parse(text, field)
  addValueProblems(value, [], findings)
  if (problems.list.length > 0) throw invalid(problems.list)
  return value
}

/**
 * Parses a JSON text as `parseJsonText` does. If the text is a list, an item that `parseJsonText`
 * would reject becomes a `MalformedItem` in its place. Items that end beyond the first `MAX_NODES`
 * values and names of the list are malformed too.
 */
export function parseJsonItems(text: string, field?: string): unknown {
  const items = new Map<number, Problems>()
  const addProblem = ([index, ...itemPath]: Path, message: string) => {
    if (typeof index !== 'number') {
      throw invalidField(fieldPath([field, index].filter((part) => part !== undefined)) || 'payload', message)
    }
    const problems = items.get(index) ?? new Problems()
    problems.add(fieldPath(itemPath), message)
    items.set(index, problems)
    return true
  }
  const exceeded: Findings['exceeded'] = (_bound, path, message) => {
    const [index] = path
    if (typeof index !== 'number' || !items.has(index)) addProblem(path, message)
  }
  new StructureScan({ addProblem, exceeded }).scan(text)
  const value = parse(text, field)
  if (!Array.isArray(value)) {
    addValueProblems(value, [], { addProblem })
    return value
  }
  return value.map((item: unknown, index) => {
    if (!items.has(index)) addValueProblems(item, [index], { addProblem })
    const problems = items.get(index)
    return problems ? new MalformedItem(problems.list) : item
  })
}

function parse(text: string, field: string | undefined): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw field === undefined ? malformed('the body is not valid JSON') : invalidField(field, 'must be JSON')
  }
}

interface Level {
  /** Names seen so far. Undefined in an array. */
  names: Set<string> | undefined
  expectsName: boolean
  items: number
  /** Current name or index. */
  nameOrIndex: string | number
}

/**
 * Scans the text once before it is parsed, for problems that `JSON.parse` would ignore (duplicate
 * names) or fail on (depth).
 */
class StructureScan {
  readonly #findings: Findings
  readonly #levels: Level[] = []
  /** Number of open levels below the maximum depth. */
  #tooDeep = 0
  #nodes = 0
  #shouldContinue = true

  constructor(findings: Findings) {
    this.#findings = findings
  }

  /** Returns false if the scan ended early because no more problems are needed. */
  scan(text: string): boolean {
    for (let i = 0; i < text.length && this.#shouldContinue; i++) {
      switch (text[i]) {
        case '"': {
          const end = findTextEnd(text, i)
          this.#text(text, i, end)
          i = end
          break
        }
        case '{':
          this.#open({ names: new Set(), expectsName: true, items: 1, nameOrIndex: '' })
          break
        case '[':
          this.#open({ names: undefined, expectsName: false, items: 1, nameOrIndex: 0 })
          break
        case '}':
        case ']':
          this.#close()
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
          i = findWordEnd(text, i)
      }
    }
    return this.#shouldContinue
  }

  #count(): void {
    this.#nodes++
    if (this.#nodes > MAX_NODES)
      this.#exceeded('nodes', this.#levels.slice(0, 1), `must not have more than ${MAX_NODES} values and names in all`)
  }

  #open(level: Level): void {
    this.#count()
    if (this.#levels.length < MAX_DEPTH) return void this.#levels.push(level)
    this.#exceeded('depth', this.#levels, `JSON must not be nested deeper than ${MAX_DEPTH} levels`)
    this.#tooDeep++
  }

  #close(): void {
    if (this.#tooDeep > 0) this.#tooDeep--
    else this.#levels.pop()
  }

  #next(): void {
    const level = this.#levels.at(-1)
    if (!level || this.#tooDeep > 0) return
    level.items++
    if (level.items > MAX_ITEMS) this.#exceeded('items', this.#levels.slice(0, -1), `must not have more than ${MAX_ITEMS} items`)
    if (level.names) level.expectsName = true
    else level.nameOrIndex = level.items - 1
  }

  #text(text: string, start: number, end: number): void {
    this.#count()
    const level = this.#levels.at(-1)
    if (!level?.names || !level.expectsName || this.#tooDeep > 0) return
    const name = decodeName(text.slice(start, end + 1))
    level.expectsName = false
    level.nameOrIndex = name
    if (level.names.has(name)) this.#addProblem(this.#levels, 'must not be repeated')
    level.names.add(name)
  }

  #addProblem(levels: readonly Level[], message: string): void {
    this.#shouldContinue = this.#findings.addProblem(toPath(levels), message)
  }

  #exceeded(bound: 'depth' | 'items' | 'nodes', levels: readonly Level[], message: string): void {
    this.#findings.exceeded(bound, toPath(levels), message)
  }
}

function toPath(levels: readonly Level[]): Path {
  return levels.map(({ nameOrIndex }) => nameOrIndex)
}

const QUOTE = 0x22
const BACKSLASH = 0x5c

/** Returns the index of the closing quote, or the length of a truncated text. */
function findTextEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === QUOTE) return i
    if (unit === BACKSLASH) i++
  }
  return text.length
}

/**
 * Returns the index of the last character of a number, true, false or null, or of any other word in
 * its place.
 */
function findWordEnd(text: string, start: number): number {
  WORD.lastIndex = start
  WORD.test(text)
  return WORD.lastIndex - 1
}

const WORD = /[^"{}[\],: \t\r\n]+/y

/** Returns the decoded name, because two spellings (`"a"` and `"\u0061"`) are the same name. */
function decodeName(quoted: string): string {
  if (!quoted.includes('\\')) return quoted.slice(1, -1)
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted
  }
}

/** Adds each invalid parsed value with its path. The earlier scan bounds the depth. */
function addValueProblems(value: unknown, start: Path, { addProblem }: Pick<Findings, 'addProblem'>): void {
  const path: (string | number)[] = [...start]
  let shouldContinue = true
  const walk = (part: unknown) => {
    const message = describeProblem(part)
    if (message !== undefined) shouldContinue = addProblem(path, message)
    if (typeof part !== 'object' || part === null) return
    for (const [name, inner] of Object.entries(part)) {
      if (!shouldContinue) return
      path.push(Array.isArray(part) ? Number(name) : name)
      if (!isStorable(name)) shouldContinue = addProblem(path, 'must have a well-formed name without NUL')
      walk(inner)
      path.pop()
    }
  }
  walk(value)
}

function describeProblem(value: unknown): string | undefined {
  if (typeof value === 'string' && !isStorable(value)) return 'must be well-formed Unicode without NUL'
  if (typeof value !== 'number') return undefined
  if (!Number.isFinite(value)) return 'must not be a number out of range'
  if (Number.isInteger(value) && !Number.isSafeInteger(value)) return 'must not be a number above 2^53-1: send ids as strings'
  return undefined
}
