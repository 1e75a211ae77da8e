import { describe, expect, test } from '@jest/globals'
import { addEntries, changeEntries, checkEntries, checkNames, type MetadataEntry, removeEntries } from './metadata.ts'

const createEntry = (more: Partial<MetadataEntry> = {}): MetadataEntry => ({
  name: 'genre',
  value: 'film',
  private: false,
  readOnly: false,
  ...more,
})
const buildEntries = (count: number) => Array.from({ length: count }, (_, index) => createEntry({ name: toName(index) }))
const toName = (index: number) => `n_${letters(index)}`
const rejection = (reason: string) => expect.objectContaining({ reason })
const findInvalidFields = (run: () => void) => {
  try {
    run()
  } catch (error) {
    return (error as { fields: { field: string }[] }).fields.map(({ field }) => field)
  }
  return []
}

describe('entries', () => {
  test.each(['a', 'genre', '_', '__proto__', 'constructor', 'z'.repeat(99), 'z'.repeat(100)])('may be named %s', (name) => {
    expect(findInvalidFields(() => checkEntries([createEntry({ name })], 'entries'))).toEqual([])
  })
  test.each(['', 'Genre', 'toString', 'a-b', 'a1', 'a b', 'a\n', 'é', 'a,b', 'z'.repeat(101)])('must not be named %j', (name) => {
    expect(findInvalidFields(() => checkEntries([createEntry({ name })], 'entries'))).toEqual(['entries[0].name'])
  })
  test.each([
    [0, []],
    [999, []],
    [1_000, []],
    [1_001, ['entries[0].value']],
  ])('with a value of %i characters have the invalid fields %j', (length, fields) => {
    expect(findInvalidFields(() => checkEntries([createEntry({ value: '🎬'.repeat(length) })], 'entries'))).toEqual(fields)
  })
  test.each([
    [0, ['entries']],
    [1, []],
    [99, []],
    [100, []],
    [101, ['entries']],
  ])('in a call with %i of them have the invalid fields %j', (count, fields) => {
    const entries = Array.from({ length: count }, (_, index) => createEntry({ name: letters(index) }))
    expect(findInvalidFields(() => checkEntries(entries, 'entries'))).toEqual(fields)
    expect(findInvalidFields(() => checkNames(entries.map(({ name }) => name)))).toEqual(fields.map(() => 'names'))
  })
  test('are all reported if they are invalid or repeated', () => {
    const entries = [createEntry(), createEntry(), createEntry({ name: 'B', value: 'a\0' })]
    expect(findInvalidFields(() => checkEntries(entries, 'entries'))).toEqual(['entries[1].name', 'entries[2].name', 'entries[2].value'])
  })
})

describe('adding', () => {
  test('keeps the existing entries', () => {
    expect(addEntries([createEntry()], [createEntry({ name: 'mood' })], false).map(({ name }) => name)).toEqual(['genre', 'mood'])
  })
  test('an existing name is rejected', () => {
    expect(() => addEntries([createEntry()], [createEntry({ name: 'mood' }), createEntry()], true)).toThrow(rejection('METADATA_EXISTS'))
  })
  test('is possible up to 100 entries per video', () => {
    const full = addEntries(buildEntries(99), [createEntry()], false)
    expect(full).toHaveLength(100)
    expect(() => addEntries(full, [createEntry({ name: 'mood' })], false)).toThrow(rejection('METADATA_FULL'))
  })
  test('read-only entries requires a system user', () => {
    expect(() => addEntries([], [createEntry(), createEntry({ name: 'mood', readOnly: true })], false)).toThrow(rejection('SYSTEM_ONLY'))
    expect(addEntries([], [createEntry({ readOnly: true })], true)).toEqual([createEntry({ readOnly: true })])
  })
})

describe('changing', () => {
  const current = [createEntry({ private: true }), createEntry({ name: 'bound', readOnly: true })]
  test('affects the named entries only, and keeps their other properties', () => {
    expect(changeEntries(current, [{ name: 'genre', value: 'show' }], false)).toEqual([
      createEntry({ value: 'show', private: true }),
      current[1],
    ])
    expect(changeEntries(current, [{ name: 'genre', value: '', private: false }], false)[0]).toEqual(createEntry({ value: '' }))
  })
  test('an unknown entry rejects the whole call', () => {
    const changes = [
      { name: 'genre', value: 'show' },
      { name: 'mood', value: 'x' },
    ]
    expect(() => changeEntries(current, changes, true)).toThrow(rejection('METADATA_NOT_FOUND'))
  })
  test('an entry that is read-only, or making it read-only, requires a system user', () => {
    expect(() => changeEntries(current, [{ name: 'bound', value: 'x' }], false)).toThrow(rejection('METADATA_READ_ONLY'))
    expect(() => changeEntries(current, [{ name: 'genre', value: 'x', readOnly: true }], false)).toThrow(rejection('SYSTEM_ONLY'))
    expect(changeEntries(current, [{ name: 'bound', value: 'x', readOnly: false }], true)[1]).toEqual(
      createEntry({ name: 'bound', value: 'x' }),
    )
  })
})

describe('removing', () => {
  const current = [createEntry(), createEntry({ name: 'bound', readOnly: true })]
  test('deletes the named entries', () => {
    expect(removeEntries(current, ['genre', 'genre'], false)).toEqual([current[1]])
    expect(removeEntries(current, ['genre', 'bound'], true)).toEqual([])
  })
  test('fails as a whole for an unknown or read-only entry', () => {
    expect(() => removeEntries(current, ['genre', '__proto__'], true)).toThrow(rejection('METADATA_NOT_FOUND'))
    expect(() => removeEntries(current, ['genre', 'bound'], false)).toThrow(rejection('METADATA_READ_ONLY'))
  })
})

function letters(index: number): string {
  return String.fromCharCode(97 + Math.floor(index / 26)) + String.fromCharCode(97 + (index % 26))
}
