import { expect, test } from '@jest/globals'
import { isDomainError } from '@vitascope/errors'
import { changeTheme, DEFAULT_THEME, THEME_PATHS, type ThemeFields } from './theme.ts'

const plain = DEFAULT_THEME

function findInvalidFields(input: Partial<ThemeFields>, mask: string[]): string[] {
  try {
    changeTheme(plain, { ...plain, ...input }, mask)
  } catch (error) {
    if (isDomainError(error)) return error.fields.map(({ field }) => field)
    throw error
  }
  return []
}

test.each([...THEME_PATHS].filter(([path]) => path.endsWith('_colour')))('%s must be #rrggbb or empty', (path, key) => {
  for (const colour of ['#000000', '#abcdef', '#ABCDEF', '']) expect(findInvalidFields({ [key]: colour }, [path])).toEqual([])
  for (const colour of ['000000', '#fff', '#12345', '#1234567', '#gggggg', 'red', '#12345\n', '#０00000', '#12345;']) {
    expect(findInvalidFields({ [key]: colour }, [path])).toEqual([path])
  }
})

test('title and skin have at most 50 characters', () => {
  expect(findInvalidFields({ title: '😀'.repeat(50), skin: 'x'.repeat(50) }, ['title', 'skin'])).toEqual([])
  expect(findInvalidFields({ title: '😀'.repeat(51), skin: 'x'.repeat(51), textColour: 'red' }, ['title', 'skin', 'text_colour'])).toEqual([
    'title',
    'skin',
    'text_colour',
  ])
})

test('a change applies the fields of the update mask, which must exist', () => {
  expect(changeTheme({ ...plain, skin: 'flat' }, { ...plain, title: 'A', textColour: '#000000' }, ['title', 'skin'])).toEqual({
    ...plain,
    title: 'A',
    skin: undefined,
  })
  expect(findInvalidFields({}, ['organisation_id', 'theme_id'])).toEqual(['update_mask', 'update_mask'])
})
