import { expect, test } from '@jest/globals'
import { createTextGenerator, createUniqueText } from './random-text.ts'

function createClaims(texts = new Set<string>()) {
  let tries = 0
  return {
    claim: async (text: string) => {
      tries++
      if (texts.has(text)) return false
      texts.add(text)
      return true
    },
    tries: () => tries,
  }
}

test.each([4, 7, 10])('returns a text of %d characters', async (length) => {
  expect(await createUniqueText(createClaims(), createTextGenerator(), length)).toMatch(new RegExp(`^[A-Za-z0-9]{${length}}$`))
})

test.each([0, 3, 11, -1, 4.5])('a length of %d is rejected', async (length) => {
  await expect(createUniqueText(createClaims(), createTextGenerator(), length)).rejects.toMatchObject({ reason: 'INVALID_INPUT' })
})

test('a request is rejected after 20 attempts in a full space', async () => {
  const texts = createClaims(new Set(['aaaa']))
  await expect(createUniqueText(texts, createTextGenerator('a'), 4)).rejects.toMatchObject({ kind: 'unavailable', reason: 'IDS_EXHAUSTED' })
  expect(texts.tries()).toBe(20)
})

test('an almost full space returns the remaining text or rejects the request', async () => {
  const all = [...'ab'].flatMap((a) => [...'ab'].flatMap((b) => [...'ab'].flatMap((c) => [...'ab'].map((d) => a + b + c + d))))
  const texts = new Set(all.slice(1))
  const input = await createUniqueText(createClaims(texts), createTextGenerator('ab'), 4).catch((error: { reason: string }) => error.reason)
  expect([all[0], 'IDS_EXHAUSTED']).toContain(input)
})
