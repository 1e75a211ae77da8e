import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import type { ObjectStorage } from '@vitascope/storage'
import { createMetrics } from '@vitascope/telemetry'
import { createObjectCache } from './object-cache.ts'
import { createObjectReader } from './send-object.ts'

const CONTENT = Buffer.from('segment')
const options = () => ({ signal: new AbortController().signal })

/** A bucket with one object. Every read takes 20 ms. */
function slowBucket({ failures = 0 } = {}) {
  let [opened, remainingFailures] = [0, failures]
  const storage: Pick<ObjectStorage, 'open'> = {
    async open() {
      opened += 1
      await delay(20)
      if (remainingFailures-- > 0) throw new Error('the bucket is unavailable')
      return { stream: Readable.from([CONTENT]), bytes: CONTENT.length, modified: new Date(0), range: undefined }
    },
  }
  const reader = createObjectReader(storage, createObjectCache(1_000, createMetrics('test')))
  return { reader, opened: () => opened }
}

test('concurrent requests for an object that was requested before share one read, also if one client disconnects', async () => {
  const { reader, opened } = slowBucket()
  await (await reader.open('a', options())).discard()
  const hangUp = new AbortController()
  const first = reader.open('a', { signal: hangUp.signal })
  const others = Array.from({ length: 20 }, () => reader.open('a', options()))
  hangUp.abort()
  await first
  for (const object of await Promise.all(others)) expect(object.bytes).toBe(CONTENT.length)
  expect(opened()).toBe(2)
  await reader.open('a', { ...options(), range: { start: 0, end: 2 } })
  expect(opened()).toBe(2)
})

test('requests read the object themselves if the shared read fails', async () => {
  const { reader, opened } = slowBucket({ failures: 1 })
  await expect(reader.open('a', options())).rejects.toThrow('the bucket is unavailable')
  const failing = slowBucket({ failures: 2 })
  await reader.open('a', options())
  await expect(failing.reader.open('a', options())).rejects.toThrow('the bucket is unavailable')
  // The shared read fails, and the request's own read succeeds.
  expect((await failing.reader.open('a', options())).bytes).toBe(CONTENT.length)
  expect([opened(), failing.opened()]).toEqual([2, 3])
})
