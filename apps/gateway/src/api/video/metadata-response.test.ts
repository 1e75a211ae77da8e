import { expect, test } from '@jest/globals'
import { guestMetadataResponse, MetadataResponse, ownMetadataResponse } from './metadata-response.ts'

const makeEntry = (name: string, more: object = {}) => ({ name, value: `of ${name}`, private: false, readOnly: false, ...more })

test('a guest gets a map of the public values, including names such as __proto__', () => {
  const entries = ['__proto__', 'constructor', 'hasownproperty', 'public'].map((name) => makeEntry(name))
  const response = guestMetadataResponse([...entries, makeEntry('budget', { private: true })])
  expect(JSON.stringify(response)).toBe(
    '{"__proto__":"of __proto__","constructor":"of constructor","hasownproperty":"of hasownproperty","public":"of public"}',
  )
  expect(({} as Record<string, unknown>)['of __proto__']).toBeUndefined()
})

test('the owner gets the public and the private entries in two lists', () => {
  expect(ownMetadataResponse([makeEntry('a', { readOnly: true }), makeEntry('b', { private: true })])).toEqual({
    public: [{ name: 'a', private: false, value: 'of a', read_only: true }],
    private: [{ name: 'b', private: true, value: 'of b', read_only: false }],
  })
})

test('metadata without visible entries is an empty text', () => {
  expect([ownMetadataResponse([]), guestMetadataResponse([]), guestMetadataResponse([makeEntry('a', { private: true })])]).toEqual([
    '',
    '',
    '',
  ])
})

test('every response matches the documented schema', () => {
  const entries = [makeEntry('a'), makeEntry('__proto__')]
  for (const response of [guestMetadataResponse(entries), ownMetadataResponse(entries), ''])
    expect(MetadataResponse.safeParse(response).success).toBe(true)
})
