import { readFileSync } from 'node:fs'
import { type Description, recordDeclaration, recordName } from './setting-declaration.ts'

/** All problems of a process's settings, one on each line. */
export class ConfigError extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.length === 1 ? `${problems[0]}` : `bad settings:\n${problems.map((p) => `  ${p}`).join('\n')}`)
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/**
 * Reads settings and collects all problems; `check` throws one `ConfigError` with all of them. For an invalid setting
 * a getter returns its default or a neutral value, so no value may be used before `check`. A setting without `fallback`
 * is required unless its getter says otherwise.
 */
export interface Reader {
  /** A text. An empty text counts as a missing one. */
  text(name: string, setting: Description & { fallback?: string | undefined }): string
  /** An optional text. Without a description, another process declares and validates the setting. */
  optional(name: string, setting?: Description): string | undefined
  /** An integer within bounds, both inclusive. */
  int(name: string, setting: IntSetting): number
  /** One of `words`. */
  oneOf<T extends string>(name: string, setting: Description & { words: readonly T[]; fallback: T }): T
  /** `0`, `1`, `true` or `false`. */
  flag(name: string, setting: Description & { fallback: boolean }): boolean
  /** An optional comma-separated list. Items are trimmed, and empty ones are removed. `check` returns a message to reject an item. */
  list(name: string, setting: Description & { check?: (item: string) => string | undefined }): string[]
  /** A `HOST:PORT`, to listen on or to connect to. */
  address(name: string, setting: Description & { fallback?: string }): string
  /** Same as `address`, or undefined if the setting is missing. */
  optionalAddress(name: string, setting: Description): string | undefined
  /**
   * An optional secret: the value of NAME, or the trimmed content of the file that NAME_FILE names. Both must not be set. Without a
   * description, another process declares and validates the setting.
   */
  secret(name: string, setting?: Description): string | undefined
  /** Same as `url` with the value read like `secret`, for URLs that may contain a password. */
  secretUrl(name: string, setting: UrlSetting): string | undefined
  /** The trimmed content of the file that the setting names. */
  secretFile(name: string, setting: Description): string
  /** An absolute URL with one of the protocols (`['http:', 'https:']`), or undefined if the setting is missing. */
  url(name: string, setting: UrlSetting): string | undefined
  /** Adds a problem that the caller found. It must start with the name of the setting. */
  addProblem(problem: string): void
  /** Rejects every setting that starts with `prefix` and was not read. `others` are settings of other programs. */
  rejectUnknown(prefix: string, others?: readonly string[]): void
  /** Throws if there are any problems. */
  check(): void
}

export interface IntSetting extends Description {
  fallback: number
  min: number
  max: number
}

export interface UrlSetting extends Description {
  protocols: readonly string[]
}

export function readEnvironment(env: NodeJS.ProcessEnv): Reader {
  const problems: string[] = []
  const known = new Set<string>()
  const addProblem = (problem: string) => {
    // A setting may be read twice, but its problem is reported once.
    if (!problems.includes(problem)) problems.push(problem)
  }
  const checkAddress = (name: string, value: string): string => {
    const port = Number(/:(\d{1,5})$/.exec(value)?.[1])
    if (value !== '' && !(port >= 0 && port <= 65535)) addProblem(`${name} must be HOST:PORT, not "${value}"`)
    return value
  }
  const raw = (name: string): string | undefined => {
    known.add(name)
    recordName(name)
    const value = env[name]?.trim()
    return value === '' ? undefined : value
  }
  const required = (name: string, fallback?: string): string => {
    const value = raw(name) ?? fallback
    if (value === undefined) addProblem(`${name} is missing`)
    return value ?? ''
  }
  const readFileContent = (name: string, file: string): string => {
    try {
      const text = readFileSync(file, 'utf8').trim()
      if (text === '') addProblem(`${name}: the file is empty`)
      return text
    } catch (error) {
      addProblem(`${name}: the file cannot be read (${(error as NodeJS.ErrnoException).code})`)
      return ''
    }
  }
  const secret = (name: string): string | undefined => {
    const [value, file] = [raw(name), raw(`${name}_FILE`)]
    if (value !== undefined && file !== undefined) addProblem(`${name} and ${name}_FILE are both set: remove one of them`)
    return value ?? (file === undefined ? undefined : readFileContent(`${name}_FILE`, file))
  }
  const checkUrl = (name: string, value: string | undefined, protocols: readonly string[]) => {
    if (value !== undefined && value !== '' && (!URL.canParse(value) || !protocols.includes(new URL(value).protocol))) {
      addProblem(`${name} must be a URL beginning with ${protocols.map((p) => `${p}//`).join(' or ')}`)
    }
    return value
  }

  return {
    text(name, setting) {
      recordDeclaration({ ...setting, name, values: 'text', fallback: setting.fallback })
      return required(name, setting.fallback)
    },
    optional(name, setting) {
      if (setting) recordDeclaration({ ...setting, name, values: 'text', fallback: null })
      return raw(name)
    },
    int(name, setting) {
      const { fallback, min, max } = setting
      recordDeclaration({ ...setting, name, values: { min, max }, fallback })
      const value = raw(name)
      if (value === undefined) return fallback
      const number = /^-?\d{1,15}$/.test(value) ? Number(value) : Number.NaN
      if (number >= min && number <= max) return number
      addProblem(`${name} must be an integer from ${min} to ${max}, not "${value}"`)
      return fallback
    },
    oneOf(name, setting) {
      const { words, fallback } = setting
      recordDeclaration({ ...setting, name, values: words, fallback })
      const value = raw(name)
      if (value === undefined) return fallback
      const word = words.find((w) => w === value)
      if (word === undefined) addProblem(`${name} must be one of ${words.join(', ')}, not "${value}"`)
      return word ?? fallback
    },
    flag(name, setting) {
      recordDeclaration({ ...setting, name, values: ['0', '1'], fallback: setting.fallback ? '1' : '0' })
      const value = raw(name)
      if (value === undefined) return setting.fallback
      if (['1', 'true'].includes(value)) return true
      if (!['0', 'false'].includes(value)) addProblem(`${name} must be 0, 1, true or false, not "${value}"`)
      return false
    },
    list(name, setting) {
      recordDeclaration({ ...setting, name, values: 'list', fallback: null })
      const items = (raw(name) ?? '')
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '')
      for (const item of items) {
        const problem = setting.check?.(item)
        if (problem !== undefined) addProblem(`${name}: "${item}" ${problem}`)
      }
      return items
    },
    address(name, setting) {
      recordDeclaration({ ...setting, name, values: 'HOST:PORT', fallback: setting.fallback })
      return checkAddress(name, required(name, setting.fallback))
    },
    optionalAddress(name, setting) {
      recordDeclaration({ ...setting, name, values: 'HOST:PORT', fallback: null })
      const value = raw(name)
      return value === undefined ? undefined : checkAddress(name, value)
    },
    secretFile(name, setting) {
      recordDeclaration({ ...setting, name, values: 'file', fallback: undefined })
      const file = required(name)
      return file === '' ? '' : readFileContent(name, file)
    },
    secret(name, setting) {
      if (setting) recordDeclaration({ ...setting, name, values: 'secret', fallback: null })
      return secret(name)
    },
    secretUrl(name, setting) {
      recordDeclaration({ ...setting, name, values: 'secret', fallback: null })
      return checkUrl(name, secret(name), setting.protocols)
    },
    url(name, setting) {
      recordDeclaration({ ...setting, name, values: 'URL', fallback: null })
      return checkUrl(name, raw(name), setting.protocols)
    },
    addProblem,
    rejectUnknown(prefix, others = []) {
      const unknown = Object.keys(env).filter((name) => name.startsWith(prefix) && !known.has(name) && !others.includes(name))
      for (const name of unknown.sort()) addProblem(`${name} is not a setting`)
    },
    check() {
      if (problems.length > 0) throw new ConfigError(problems)
    },
  }
}
