import { expect, test } from '@jest/globals'
import { applyMask, type MaskPaths, readMask } from './update-mask.ts'

interface Fields {
  title: string
  startSeconds: number
  endSeconds: number
}

const PATHS: MaskPaths<Fields> = new Map<string, keyof Fields | readonly (keyof Fields)[]>([
  ['title', 'title'],
  ['during', ['startSeconds', 'endSeconds']],
])
const current = { title: 'old', startSeconds: 1, endSeconds: 2, id: '7' }
const input = { title: 'new', startSeconds: 3, endSeconds: 4 }

test('only the masked fields change', () => {
  expect(applyMask(current, input, [], PATHS)).toEqual({ fields: current, maskedKeys: new Set(), problems: [] })
  expect(applyMask(current, input, ['title', 'title'], PATHS).fields).toEqual({ ...current, title: 'new' })
})

test('a path can name several fields', () => {
  const { fields, maskedKeys } = applyMask(current, input, ['during'], PATHS)
  expect(fields).toEqual({ ...current, startSeconds: 3, endSeconds: 4 })
  expect(maskedKeys).toEqual(new Set(['startSeconds', 'endSeconds']))
})

test('each path that names no field is a problem', () => {
  expect(applyMask(current, input, ['id', 'title', '__proto__'], PATHS)).toMatchObject({
    fields: { id: '7', title: 'new' },
    problems: [
      { field: 'update_mask', message: 'names no field: id' },
      { field: 'update_mask', message: 'names no field: __proto__' },
    ],
  })
})

test('a mask is read as the set of its fields', () => {
  expect(readMask(['email', 'name', 'email'], ['name', 'email', 'status'])).toEqual(new Set(['name', 'email']))
  expect(readMask(undefined, ['name'])).toEqual(new Set())
  expect(() => readMask(['user_id', '__proto__'], ['name'])).toThrow('bad fields: update_mask, update_mask')
})
