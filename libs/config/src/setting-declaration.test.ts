import { expect, test } from '@jest/globals'
import { readEnvironment } from './read-environment.ts'
import { recordSettings } from './setting-declaration.ts'

test('a record contains the declarations and names of the settings that were read inside it', () => {
  const record = recordSettings(() => {
    const read = readEnvironment({})
    read.int('A', { description: 'An integer.', fallback: 1, min: 0, max: 9 })
    read.text('B', { description: 'A text.', defaultText: 'host name' })
    read.optional('C')
  })
  readEnvironment({}).text('D', { description: 'Read outside of the record.' })
  expect(record.declarations).toMatchObject([
    { name: 'A', description: 'An integer.', values: { min: 0, max: 9 }, fallback: 1 },
    { name: 'B', description: 'A text.', values: 'text', fallback: undefined, defaultText: 'host name' },
  ])
  expect([...record.names]).toEqual(['A', 'B', 'C'])
})
