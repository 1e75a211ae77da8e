import { DomainError, type FieldError, notFound, requireValid } from '@vitascope/errors'
import { checkText } from '@vitascope/request'

/** A named text value of a video. */
export interface MetadataEntry {
  /**
   * Letters a to z and underscores. `__proto__` and `constructor` are valid names, so never use a
   * name as key of a plain object.
   */
  name: string
  value: string
  /** Only visible to the video's organisation. */
  private: boolean
  /** Only system users can change it. */
  readOnly: boolean
}

/** A change of an entry. Undefined fields stay unchanged. */
export interface MetadataChange {
  name: string
  value: string
  private?: boolean | undefined
  readOnly?: boolean | undefined
}

/** Maximum number of entries of a video, and of a request. */
export const MAX_ENTRIES = 100
const MAX_NAME_LENGTH = 100
const MAX_VALUE_LENGTH = 1_000
const NAME = /^[a-z_]+$/

/** Throws `invalid` with every problem of new or changed entries. `field` is the proto name of their list. */
export function checkEntries(entries: readonly MetadataChange[], field: 'entries' | 'changes'): void {
  const problems = [...checkCount(entries.length, field), ...(entries.length > MAX_ENTRIES ? [] : entryProblems(entries, field))]
  requireValid(problems)
}

export function checkNames(names: readonly string[]): void {
  const problems = checkCount(names.length, 'names')
  requireValid(problems)
}

/**
 * Returns the entries of a video with the new entries. Throws METADATA_EXISTS, METADATA_FULL or
 * SYSTEM_ONLY.
 */
export function addEntries(current: readonly MetadataEntry[], newEntries: readonly MetadataEntry[], isSystem: boolean): MetadataEntry[] {
  if (!isSystem) rejectNewReadOnly(newEntries)
  const existingNames = new Set(current.map(({ name }) => name))
  const repeatedNames = newEntries.filter(({ name }) => existingNames.has(name)).map(({ name }) => name)
  if (repeatedNames.length > 0) {
    throw new DomainError('exists', 'METADATA_EXISTS', `the video already has metadata with this name: ${formatNames(repeatedNames)}`)
  }
  if (current.length + newEntries.length > MAX_ENTRIES) {
    throw new DomainError('failed_precondition', 'METADATA_FULL', `a video has at most ${MAX_ENTRIES} entries of metadata`)
  }
  return [...current, ...newEntries]
}

/**
 * Returns the entries of a video with the changes applied. Throws METADATA_NOT_FOUND,
 * METADATA_READ_ONLY or SYSTEM_ONLY.
 */
export function changeEntries(current: readonly MetadataEntry[], changes: readonly MetadataChange[], isSystem: boolean): MetadataEntry[] {
  if (!isSystem) rejectNewReadOnly(changes)
  const changesByName = new Map(changes.map((change) => [change.name, change]))
  rejectForbiddenChanges(current, [...changesByName.keys()], isSystem)
  return current.map((entry) => {
    const change = changesByName.get(entry.name)
    if (!change) return entry
    return { ...entry, value: change.value, private: change.private ?? entry.private, readOnly: change.readOnly ?? entry.readOnly }
  })
}

/**
 * Returns the entries of a video without the entries in `names`. Throws METADATA_NOT_FOUND or
 * METADATA_READ_ONLY.
 */
export function removeEntries(current: readonly MetadataEntry[], names: readonly string[], isSystem: boolean): MetadataEntry[] {
  rejectForbiddenChanges(current, names, isSystem)
  const removed = new Set(names)
  return current.filter(({ name }) => !removed.has(name))
}

function checkCount(count: number, field: string): FieldError[] {
  return count >= 1 && count <= MAX_ENTRIES ? [] : [{ field, message: `must have 1 to ${MAX_ENTRIES} items` }]
}

function entryProblems(entries: readonly MetadataChange[], list: string): FieldError[] {
  const names = new Set<string>()
  return entries.flatMap(({ name, value }, index) => {
    const field = `${list}[${index}]`
    const isRepeated = names.has(name)
    names.add(name)
    return [
      ...checkName(name, `${field}.name`),
      ...(isRepeated ? [{ field: `${field}.name`, message: 'must not be repeated' }] : []),
      ...checkText(`${field}.value`, value, { max: MAX_VALUE_LENGTH }),
    ]
  })
}

function checkName(name: string, field: string): FieldError[] {
  if (name.length >= 1 && name.length <= MAX_NAME_LENGTH && NAME.test(name)) return []
  return [{ field, message: `must have 1 to ${MAX_NAME_LENGTH} characters of a to z and underscore` }]
}

function rejectNewReadOnly(entries: readonly MetadataChange[]): void {
  if (entries.some(({ readOnly }) => readOnly)) {
    throw new DomainError('forbidden', 'SYSTEM_ONLY', 'only system keys may make metadata read-only')
  }
}

function rejectForbiddenChanges(current: readonly MetadataEntry[], names: readonly string[], isSystem: boolean): void {
  const entriesByName = new Map(current.map((entry) => [entry.name, entry]))
  const missingNames = names.filter((name) => !entriesByName.has(name))
  if (missingNames.length > 0) throw notFound('metadata', formatNames(missingNames))
  const readOnlyNames = names.filter((name) => entriesByName.get(name)?.readOnly)
  if (readOnlyNames.length > 0 && !isSystem) {
    throw new DomainError(
      'forbidden',
      'METADATA_READ_ONLY',
      `only system keys may change read-only metadata: ${formatNames(readOnlyNames)}`,
    )
  }
}

/** Returns names for an error message, truncated because names from a URL path can have any length. */
function formatNames(names: readonly string[]): string {
  const text = names.slice(0, 5).join(', ')
  return text.length > 200 || names.length > 5 ? `${text.slice(0, 200)}…` : text
}
