import { expect, test } from '@jest/globals'
import { guestMetadataView, MetadataShape, ownMetadataView } from './metadata-view.ts'

const anEntry = (name: string, more: object = {}) => ({ name, value: `of ${name}`, private: false, readOnly: false, ...more })

test('guests see a map of public values, whatever the names are', () => {
  const entries = ['__proto__', 'constructor', 'hasownproperty', 'public'].map((name) => anEntry(name))
  const view = guestMetadataView([...entries, anEntry('budget', { private: true })])
  expect(JSON.stringify(view)).toBe(
    '{"__proto__":"of __proto__","constructor":"of constructor","hasownproperty":"of hasownproperty","public":"of public"}',
  )
  expect(({} as Record<string, unknown>)['of __proto__']).toBeUndefined()
})

test('its organisation sees all entries, the private ones apart', () => {
  expect(ownMetadataView([anEntry('a', { readOnly: true }), anEntry('b', { private: true })])).toEqual({
    public: [{ name: 'a', private: false, value: 'of a', read_only: true }],
    private: [{ name: 'b', private: true, value: 'of b', read_only: false }],
  })
})

test('none is an empty text, as is nothing that a guest may see', () => {
  expect([ownMetadataView([]), guestMetadataView([]), guestMetadataView([anEntry('a', { private: true })])]).toEqual(['', '', ''])
})

test('every view fits the documented shape', () => {
  const entries = [anEntry('a'), anEntry('__proto__')]
  for (const view of [guestMetadataView(entries), ownMetadataView(entries), '']) expect(MetadataShape.safeParse(view).success).toBe(true)
})
