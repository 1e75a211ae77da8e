import { expect, test } from '@jest/globals'
import { emailProblem, inspection, isId, maskOf, textProblem } from './input.ts'

test.each([
  ['a', undefined],
  ['x'.repeat(100), undefined],
  ['👩‍👩‍👧 Müller', undefined],
  ['😀'.repeat(100), undefined],
  ['', 'must not be blank'],
  [' \t', 'must not be blank'],
  ['x'.repeat(101), 'must have 1 to 100 characters'],
  ['😀'.repeat(101), 'must have 1 to 100 characters'],
  ['a\0b', 'must be well-formed Unicode without NUL'],
  ['a\ud800', 'must be well-formed Unicode without NUL'],
])('validating the text %j returns %s', (text, problem) => {
  expect(textProblem(text, { min: 1, max: 100 })).toBe(problem)
})

test.each(['a@b', 'Ann.Lee+tag@mail.example.org', 'ü@exämple.org', `${'a'.repeat(64)}@${'b'.repeat(63)}.org`])(
  '%s is an email address',
  (text) => {
    expect(emailProblem(text)).toBeUndefined()
  },
)

test.each([
  '',
  'a',
  '@b',
  'a@',
  'a b@c',
  'a@b@c',
  'a@b..c',
  'a@-b',
  'a@b.',
  'a\0@b',
  'a@b\n',
  '<a@b>',
  `a@${'b'.repeat(64)}`,
  `${'a'.repeat(64)}@${'b.'.repeat(100)}org`,
])('%j is not an email address', (text) => {
  expect(emailProblem(text)).toBeDefined()
})

test.each([
  ['1', true],
  ['9007199254740991', true],
  ['9007199254740993', false],
  ['0', false],
  ['01', false],
  ['-1', false],
  [' 5', false],
  ['1e3', false],
  ['0x10', false],
  ['１', false],
  ['1'.repeat(400), false],
  ['', false],
])('%j is an id: %s', (text, right) => {
  expect(isId(text)).toBe(right)
})

test('every invalid field is reported at once', () => {
  const input = inspection()
  input.note('name', 'must not be blank')
  input.note('email', undefined)
  input.note('quota.bytes', 'must be 0 or more')
  expect(() => input.check()).toThrow(
    expect.objectContaining({
      kind: 'invalid',
      fields: [expect.objectContaining({ field: 'name' }), expect.objectContaining({ field: 'quota.bytes' })],
    }),
  )
})

test('a mask with a field that cannot be changed is rejected', () => {
  expect(maskOf(['name', 'name'], ['name'])).toEqual(new Set(['name']))
  expect(() => maskOf(['user_id', '__proto__'], ['name'])).toThrow(
    expect.objectContaining({
      fields: [
        { field: 'user_id', message: 'cannot be changed' },
        { field: '__proto__', message: 'cannot be changed' },
      ],
    }),
  )
})
