import { expect, test } from '@jest/globals'
import { createPasswordDigests, createTurns } from './password-digest.ts'

const sha1 = 'b14e9015dae06b5e206c2b37178eac45e193792d'
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('a digest is stored as argon2id with a salt of its own, and only the digest itself matches', async () => {
  const digests = createPasswordDigests()
  const [one, two] = await Promise.all([digests.make(sha1), digests.make(sha1)])
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(one).not.toBe(two)
  expect(await digests.matches(one, sha1)).toBe(true)
  expect(await digests.matches(one, sha1.toUpperCase())).toBe(false)
  expect(await digests.matches(one, one)).toBe(false)
})

/** Turns of work that ends when the test says so. */
function held() {
  const inTurn = createTurns(2, 8)
  const ends: (() => void)[] = []
  const seen = { running: 0, most: 0 }
  const work = async () => {
    seen.running++
    seen.most = Math.max(seen.most, seen.running)
    await new Promise<void>((resolve) => ends.push(resolve))
    seen.running--
    return 'done'
  }
  const endAll = async () => {
    while (ends.length > 0) {
      ends.shift()?.()
      await settle()
    }
  }
  return { inTurn, work, seen, endAll }
}

test('of 200 at once two run, eight wait, and the rest are refused without waiting', async () => {
  const { inTurn, work, seen, endAll } = held()
  const refused: unknown[] = []
  const all = Array.from({ length: 200 }, () => inTurn(work).catch((error: unknown) => void refused.push(error)))
  await settle()
  expect(refused).toHaveLength(190)
  expect(refused[0]).toMatchObject({ kind: 'exhausted', reason: 'PASSWORDS_BUSY', retryAfter: 1 })
  await endAll()
  expect((await Promise.all(all)).filter(Boolean)).toHaveLength(10)
  expect(seen.most).toBe(2)
})

test('who hangs up leaves the queue, and the place goes to the next', async () => {
  const { inTurn, work, endAll } = held()
  const gone = new AbortController()
  const first = [inTurn(work), inTurn(work)]
  const left = inTurn(work, gone.signal)
  gone.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  const rest = Array.from({ length: 8 }, () => inTurn(work))
  await settle()
  await endAll()
  expect(await Promise.all([...first, ...rest])).toHaveLength(10)
})

test('a failure gives its place back', async () => {
  const inTurn = createTurns(2, 8)
  const failing = async () => {
    throw new Error('no memory')
  }
  for (let i = 0; i < 12; i++) await expect(inTurn(failing)).rejects.toThrow('no memory')
})
