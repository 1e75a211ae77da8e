import { expect, test } from '@jest/globals'
import { createPasswordDigests, createTurns } from './password-digest.ts'

const sha1 = 'b14e9015dae06b5e206c2b37178eac45e193792d'
const settle = () => new Promise((resolve) => setImmediate(resolve))

test('a digest is stored as argon2id with a salt of its own, and only the digest itself matches', async () => {
  const digests = createPasswordDigests()
  const [one, two] = await Promise.all([digests.make(sha1, '1'), digests.make(sha1, '1')])
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(one).not.toBe(two)
  expect(await digests.matches(one, sha1, '1')).toBe(true)
  expect(await digests.matches(one, sha1.toUpperCase(), '1')).toBe(false)
  expect(await digests.matches(one, one, '1')).toBe(false)
})

/** Turns of work that ends when the test says so. */
function held() {
  const inTurn = createTurns(2, { ofGroup: 4, inAll: 10 })
  const ends: (() => void)[] = []
  const seen = { running: 0, most: 0, order: '', refused: '' }
  const run = (group: string, signal?: AbortSignal) =>
    inTurn(
      group,
      async () => {
        seen.order += group
        seen.most = Math.max(seen.most, ++seen.running)
        await new Promise<void>((resolve) => ends.push(resolve))
        seen.running--
      },
      signal,
    ).catch((error: { reason?: string }) => {
      if (error.reason !== 'PASSWORDS_BUSY') throw error
      seen.refused += group
    })
  const endAll = async () => {
    while (ends.length > 0) {
      ends.shift()?.()
      await settle()
    }
  }
  return { run, seen, endAll, inTurn }
}

test('of 200 of one group at once two run, four wait, and the rest are refused without waiting', async () => {
  const { run, seen, endAll, inTurn } = held()
  const all = Array.from({ length: 200 }, () => run('a'))
  await settle()
  expect(seen.refused).toHaveLength(194)
  await expect(inTurn('a', async () => {})).rejects.toMatchObject({ kind: 'exhausted', reason: 'PASSWORDS_BUSY', retryAfter: 1 })
  await endAll()
  await Promise.all(all)
  expect([seen.order, seen.most]).toEqual(['aaaaaa', 2])
})

test('groups take turns: one that keeps on asking holds one place of two while others wait', async () => {
  const { run, seen, endAll } = held()
  const all = [...'aaaaaaaa', ...'bbb', 'c'].map((group) => run(group))
  await settle()
  expect(seen.refused).toBe('aa')
  await endAll()
  await Promise.all(all)
  // Both places are a's when b comes; after that nobody runs twice while another group waits and runs nothing.
  expect(seen.order).toBe('aabcababaa')
  expect(seen.most).toBe(2)
})

test('a flood of one group takes no waiting place of another, and all groups together have so many', async () => {
  const { run, seen, endAll } = held()
  const all = [...'a'.repeat(50), ...'bbbb', ...'cc', 'd'].map((group) => run(group))
  await settle()
  expect(seen.refused).toBe(`${'a'.repeat(44)}d`)
  await endAll()
  await Promise.all(all)
  expect(seen.order).toHaveLength(12)
})

test('who hangs up leaves the queue, and the place goes to the next', async () => {
  const { run, seen, endAll } = held()
  const gone = new AbortController()
  const first = [run('a'), run('a')]
  const left = run('b', gone.signal)
  gone.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  const rest = [...'aaaabbbbcc'].map((group) => run(group))
  await settle()
  await endAll()
  await Promise.all([...first, ...rest])
  expect([seen.refused, seen.order.length]).toEqual(['', 12])
})

test('a failure gives its place back', async () => {
  const { inTurn } = held()
  const failing = async () => {
    throw new Error('no memory')
  }
  for (let i = 0; i < 12; i++) await expect(inTurn('a', failing)).rejects.toThrow('no memory')
})
