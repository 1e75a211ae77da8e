// Faults: R16
import { expect, test } from '@jest/globals'
import { verify } from '@node-rs/argon2'
import { createPasswordHasher } from './password.ts'

const never = new AbortController().signal

test('a password is stored as an argon2id hash with its own salt', async () => {
  const hash = createPasswordHasher()
  const [first, second] = await Promise.all([hash('correct horse', never), hash('correct horse', never)])
  expect(first).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(first).not.toBe(second)
  expect(await verify(first, 'correct horse')).toBe(true)
  expect(await verify(first, 'wrong horse')).toBe(false)
})

/** Creates a hasher whose hashes complete when the test releases them. */
function pausedHasher() {
  const pending: (() => void)[] = []
  const load = { running: 0, max: 0 }
  const hash = createPasswordHasher(async (password) => {
    load.running++
    load.max = Math.max(load.max, load.running)
    await new Promise<void>((resolve) => pending.push(resolve))
    load.running--
    return `hash of ${password}`
  })
  const settle = () => new Promise((resolve) => setImmediate(resolve))
  const releaseAll = async () => {
    while (pending.length > 0) {
      pending.shift()?.()
      await settle()
    }
  }
  return { hash, load, settle, releaseAll }
}

test('two of 200 concurrent passwords are hashed at once, eight wait, and the others are rejected immediately', async () => {
  const { hash, load, settle, releaseAll } = pausedHasher()
  const errors: unknown[] = []
  const hashes = Array.from({ length: 200 }, (_, i) => hash(`p${i}`, never).catch((error: unknown) => void errors.push(error)))
  await settle()
  expect(errors).toHaveLength(190)
  expect(errors[0]).toMatchObject({ kind: 'exhausted', reason: 'PASSWORDS_BUSY', retryAfter: 1 })
  await releaseAll()
  expect((await Promise.all(hashes)).filter(Boolean)).toHaveLength(10)
  expect(load.max).toBe(2)
})

test('a caller that disconnects leaves the queue and frees its slot', async () => {
  const { hash, settle, releaseAll } = pausedHasher()
  const controller = new AbortController()
  const first = [hash('a', never), hash('b', never)]
  const waiting = hash('c', controller.signal)
  controller.abort(new Error('gone'))
  await expect(waiting).rejects.toThrow('gone')
  const others = Array.from({ length: 8 }, (_, i) => hash(`d${i}`, never))
  await settle()
  await releaseAll()
  expect(await Promise.all([...first, ...others])).toHaveLength(10)
})

test('a failed hash frees its slot', async () => {
  const hash = createPasswordHasher(async () => {
    throw new Error('no memory')
  })
  for (let i = 0; i < 12; i++) await expect(hash('a', never)).rejects.toThrow('no memory')
})
