import { describe, expect, test } from '@jest/globals'
import { checkFolder, mergeFolder } from './folder.ts'

const current = { name: 'Trailers', description: 'of 2030' }
const toInvalidFieldsError = (...fields: string[]) =>
  expect.objectContaining({ kind: 'invalid', fields: fields.map((field) => expect.objectContaining({ field })) })

describe('a folder', () => {
  test.each([1, 254, 255])('accepts a name of %i characters', (length) => {
    expect(checkFolder({ ...current, name: '📁'.repeat(length) }).name).toHaveLength(length * 2)
  })
  test.each(['', '  ', 'x'.repeat(256), 'a\0', '\ud800'])('rejects the name %j', (name) => {
    expect(() => checkFolder({ ...current, name })).toThrow(toInvalidFieldsError('name'))
  })
  test('accepts a description of at most 5,000 characters, and reports every invalid field', () => {
    for (const length of [0, 4_999, 5_000]) expect(checkFolder({ ...current, description: 'x'.repeat(length) }).name).toBe('Trailers')
    expect(() => checkFolder({ name: '', description: 'x'.repeat(5_001) })).toThrow(toInvalidFieldsError('name', 'description'))
  })
})

test('a change applies the fields of the update mask', () => {
  const input = { name: 'Teasers', description: 'new' }
  expect(mergeFolder(current, input, ['name'])).toEqual({ ...current, name: 'Teasers' })
  expect(mergeFolder(current, { ...input, name: '' }, ['description'])).toEqual({ ...current, description: 'new' })
  expect(() => mergeFolder(current, input, ['folder_id'])).toThrow(toInvalidFieldsError('update_mask'))
})
