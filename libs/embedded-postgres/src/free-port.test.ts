import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from '@jest/globals'
import { freePort } from './free-port.ts'

test('no port is given twice, also when many are asked for at once', async () => {
  // By chance alone, two of so many would mostly be the same.
  const ports = await Promise.all(Array.from({ length: 300 }, () => freePort()))
  expect(new Set(ports).size).toBe(300)
})

test('a port that somebody has is passed over', async () => {
  const port = await freePort()
  const taken = createServer().listen(port + 1, '127.0.0.1')
  // Or somebody else has it: all the same.
  await once(taken, 'listening').catch(() => {})
  expect(await freePort()).not.toBe(port + 1)
  taken.close()
})
