import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { checked } from './field.ts'
import { int, text } from './fields.ts'

const span = checked(
  z.strictObject({ title: text(3), from: int({ min: 0, max: 9 }).optional(), to: int({ min: 0, max: 9 }).optional() }),
  ({ from, to }: { from?: number; to?: number }) =>
    from !== undefined && to !== undefined && from > to ? [{ path: ['from'], message: 'must not be above to' }] : [],
)
const names = checked(
  z.array(z.strictObject({ name: text(3), value: int({ min: 0, max: 9 }) })).max(3),
  (items: readonly ({ name?: string } | undefined)[]) =>
    items.flatMap((item, index) =>
      item?.name !== undefined && items.findIndex((other) => other?.name === item.name) < index
        ? [{ path: [index, 'name'], message: 'must not be repeated' }]
        : [],
    ),
)
const problems = (shape: z.ZodType, input: unknown) =>
  (shape.safeParse(input).error?.issues ?? [])
    .map((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : issue.path).join('.'))
    .sort()

describe('a check of several fields', () => {
  test('is reported together with fields that are invalid by themselves', () => {
    expect(problems(span, { title: 'abc', from: '2', to: 2 })).toEqual([])
    expect(problems(span, { title: 'abc', from: 3, to: 2 })).toEqual(['from'])
    expect(problems(span, { title: 'long', from: 3, to: 2, colour: 'red' })).toEqual(['colour', 'from', 'title'])
    expect(problems(span, { from: 3, to: 2 })).toEqual(['from', 'title'])
  })
  test('does not see invalid fields, and is not run on a value that is not an object', () => {
    expect(problems(span, { title: 'abc', from: 10, to: 2 })).toEqual(['from'])
    expect(problems(span, 'abc')).toEqual([''])
    expect(problems(span, null)).toEqual([''])
  })
  test('also applies to the items of a list', () => {
    const input = [
      { name: 'a', value: 1 },
      { name: 'a', value: 10 },
      { name: 1, value: 1 },
    ]
    expect(problems(names, input)).toEqual(['1.name', '1.value', '2.name'])
    expect(problems(names, [{ name: 'a', value: 1 }, 'b', { name: 'a', value: 1, x: 1 }])).toEqual(['1', '2.name', 'x'])
    expect(problems(names, Array(4).fill({ name: 'a', value: 1 }))).toEqual([''])
  })
})
