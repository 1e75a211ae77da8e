import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from '@jest/globals'
import { freePort } from './free-port.ts'

test('concurrent requests never return the same port twice', async () => {
  // With random ports, two of this many would probably be the same.
  const ports = await Promise.all(Array.from({ length: 300 }, () => freePort()))
  expect(new Set(ports).size).toBe(300)
})

test('a used port is skipped', async () => {
  const port = await freePort()
  const taken = createServer().listen(port + 1, '127.0.0.1')
  // It does not matter if another program uses the port already.
  await once(taken, 'listening').catch(() => {})
  expect(await freePort()).not.toBe(port + 1)
  taken.close()
})
