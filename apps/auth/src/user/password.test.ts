import { expect, test } from '@jest/globals'
import { verify } from '@node-rs/argon2'
import { createPasswordHasher } from './password.ts'

const never = new AbortController().signal

test('a password is stored as an argon2id hash with its own salt', async () => {
  const hash = createPasswordHasher()
  const [one, two] = await Promise.all([hash('correct horse', never), hash('correct horse', never)])
  expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(one).not.toBe(two)
  expect(await verify(one, 'correct horse')).toBe(true)
  expect(await verify(one, 'wrong horse')).toBe(false)
})

/** Creates a hasher whose hashes complete when the test releases them. */
function heldHasher() {
  const held: (() => void)[] = []
  const seen = { running: 0, most: 0 }
  const hash = createPasswordHasher(async (password) => {
    seen.running++
    seen.most = Math.max(seen.most, seen.running)
    await new Promise<void>((resolve) => held.push(resolve))
    seen.running--
    return `hash of ${password}`
  })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const releaseAll = async () => {
    while (held.length > 0) {
      held.shift()?.()
      await settle()
    }
  }
  return { hash, seen, settle, releaseAll }
}

test('two of 200 concurrent passwords are hashed at once, eight wait, and the others are rejected immediately', async () => {
  const { hash, seen, settle, releaseAll } = heldHasher()
  const refused: unknown[] = []
  const all = Array.from({ length: 200 }, (_, i) => hash(`p${i}`, never).catch((error: unknown) => void refused.push(error)))
  await settle()
  expect(refused).toHaveLength(190)
  expect(refused[0]).toMatchObject({ kind: 'exhausted', reason: 'PASSWORDS_BUSY', retryAfter: 1 })
  await releaseAll()
  expect((await Promise.all(all)).filter(Boolean)).toHaveLength(10)
  expect(seen.most).toBe(2)
})

test('a caller that disconnects leaves the queue and frees its place', async () => {
  const { hash, settle, releaseAll } = heldHasher()
  const gone = new AbortController()
  const first = [hash('a', never), hash('b', never)]
  const left = hash('c', gone.signal)
  gone.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  const rest = Array.from({ length: 8 }, (_, i) => hash(`d${i}`, never))
  await settle()
  await releaseAll()
  expect(await Promise.all([...first, ...rest])).toHaveLength(10)
})

test('a failed hash frees its place', async () => {
  const hash = createPasswordHasher(async () => {
    throw new Error('no memory')
  })
  for (let i = 0; i < 12; i++) await expect(hash('a', never)).rejects.toThrow('no memory')
})
