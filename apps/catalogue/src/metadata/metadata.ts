import { DomainError, type FieldError, invalid, notFound } from '@vitascope/errors'
import { checkText } from '../text.ts'

/** A text that a video has under a name. */
export interface MetadataEntry {
  /** Any name of a to z and underscores, `__proto__` and `constructor` too: never the key of a plain object. */
  name: string
  value: string
  /** Hidden from everybody but its organisation. */
  private: boolean
  /** Changed by the system only. */
  readOnly: boolean
}

/** What becomes of an entry; what is absent stays as it is. */
export interface MetadataChange {
  name: string
  value: string
  private?: boolean | undefined
  readOnly?: boolean | undefined
}

/** Of a video, and so of a call. */
export const MOST_ENTRIES = 100
const NAME_MOST = 100
const VALUE_MOST = 1_000
const NAME = /^[a-z_]+$/

/** Refuses with everything that is wrong with new entries or changes. */
export function checkEntries(entries: readonly MetadataChange[]): void {
  const problems = [...checkCount(entries.length, 'entries'), ...(entries.length > MOST_ENTRIES ? [] : entryProblems(entries))]
  if (problems.length > 0) throw invalid(problems)
}

export function checkNames(names: readonly string[]): void {
  const problems = checkCount(names.length, 'names')
  if (problems.length > 0) throw invalid(problems)
}

/** The entries of a video with new ones; all of them, or none. */
export function addEntries(now: readonly MetadataEntry[], given: readonly MetadataEntry[], bySystem: boolean): MetadataEntry[] {
  if (!bySystem) refuseReadOnly(given)
  const known = new Set(now.map(({ name }) => name))
  const taken = given.filter(({ name }) => known.has(name)).map(({ name }) => name)
  if (taken.length > 0) {
    throw new DomainError('exists', 'METADATA_EXISTS', `the video has metadata of this name already: ${shown(taken)}`)
  }
  if (now.length + given.length > MOST_ENTRIES) {
    throw new DomainError('refused', 'METADATA_FULL', `a video has at most ${MOST_ENTRIES} entries of metadata`)
  }
  return [...now, ...given]
}

/** The entries of a video with changed ones; all of them, or none. */
export function changeEntries(now: readonly MetadataEntry[], changes: readonly MetadataChange[], bySystem: boolean): MetadataEntry[] {
  if (!bySystem) refuseReadOnly(changes)
  const named = new Map(changes.map((change) => [change.name, change]))
  refuseUntouchable(now, [...named.keys()], bySystem)
  return now.map((entry) => {
    const change = named.get(entry.name)
    if (!change) return entry
    return { ...entry, value: change.value, private: change.private ?? entry.private, readOnly: change.readOnly ?? entry.readOnly }
  })
}

/** The entries of a video without the named ones; all of them, or none. */
export function removeEntries(now: readonly MetadataEntry[], names: readonly string[], bySystem: boolean): MetadataEntry[] {
  refuseUntouchable(now, names, bySystem)
  const gone = new Set(names)
  return now.filter(({ name }) => !gone.has(name))
}

function checkCount(count: number, field: string): FieldError[] {
  return count >= 1 && count <= MOST_ENTRIES ? [] : [{ field, message: `must have 1 to ${MOST_ENTRIES} items` }]
}

function entryProblems(entries: readonly MetadataChange[]): FieldError[] {
  const seen = new Set<string>()
  return entries.flatMap(({ name, value }, index) => {
    const field = `entries[${index}]`
    const twice = seen.has(name)
    seen.add(name)
    return [
      ...checkName(name, `${field}.name`),
      ...(twice ? [{ field: `${field}.name`, message: 'must be there once' }] : []),
      ...checkText(`${field}.value`, value, { max: VALUE_MOST }),
    ]
  })
}

function checkName(name: string, field: string): FieldError[] {
  if (name.length >= 1 && name.length <= NAME_MOST && NAME.test(name)) return []
  return [{ field, message: `must have 1 to ${NAME_MOST} characters of a to z and underscore` }]
}

function refuseReadOnly(entries: readonly MetadataChange[]): void {
  if (entries.some(({ readOnly }) => readOnly)) {
    throw new DomainError('forbidden', 'SYSTEM_ONLY', 'only system keys make metadata read-only')
  }
}

function refuseUntouchable(now: readonly MetadataEntry[], names: readonly string[], bySystem: boolean): void {
  const known = new Map(now.map((entry) => [entry.name, entry]))
  const missing = names.filter((name) => !known.has(name))
  if (missing.length > 0) throw notFound('metadata', shown(missing))
  const bound = names.filter((name) => known.get(name)?.readOnly)
  if (bound.length > 0 && !bySystem) {
    throw new DomainError('forbidden', 'METADATA_READ_ONLY', `only system keys change read-only metadata: ${shown(bound)}`)
  }
}

/** Names of a message; one that came in a path may be anything. */
function shown(names: readonly string[]): string {
  const text = names.slice(0, 5).join(', ')
  return text.length > 200 || names.length > 5 ? `${text.slice(0, 200)}…` : text
}
