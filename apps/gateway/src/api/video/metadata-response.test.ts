import { expect, test } from '@jest/globals'
import { guestMetadataResponse, MetadataResponse, ownMetadataResponse } from './metadata-response.ts'

const buildEntry = (name: string, more: object = {}) => ({ name, value: `of ${name}`, private: false, readOnly: false, ...more })

test('a guest gets a map of the public values, including names such as __proto__', () => {
  const entries = ['__proto__', 'constructor', 'hasownproperty', 'public'].map((name) => buildEntry(name))
  const response = guestMetadataResponse([...entries, buildEntry('budget', { private: true })])
  expect(JSON.stringify(response)).toBe(
    '{"__proto__":"of __proto__","constructor":"of constructor","hasownproperty":"of hasownproperty","public":"of public"}',
  )
  expect(({} as Record<string, unknown>)['of __proto__']).toBeUndefined()
})

test('the owner gets the public and the private entries in two lists', () => {
  expect(ownMetadataResponse([buildEntry('a', { readOnly: true }), buildEntry('b', { private: true })])).toEqual({
    public: [{ name: 'a', private: false, value: 'of a', read_only: true }],
    private: [{ name: 'b', private: true, value: 'of b', read_only: false }],
  })
})

test('metadata without visible entries is an empty text', () => {
  expect([ownMetadataResponse([]), guestMetadataResponse([]), guestMetadataResponse([buildEntry('a', { private: true })])]).toEqual([
    '',
    '',
    '',
  ])
})

test('every response matches the documented schema', () => {
  const entries = [buildEntry('a'), buildEntry('__proto__')]
  for (const response of [guestMetadataResponse(entries), ownMetadataResponse(entries), ''])
    expect(MetadataResponse.safeParse(response).success).toBe(true)
})
