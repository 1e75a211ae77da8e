import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, test } from '@jest/globals'
import { freePort } from './free-port.ts'

test('concurrent requests never return the same port twice', async () => {
  // 300 random ports would probably include two equal ones.
  const ports = await Promise.all(Array.from({ length: 300 }, () => freePort()))
  expect(new Set(ports).size).toBe(300)
})

test('a port on which a server listens is skipped', async () => {
  const port = await freePort()
  const taken = createServer().listen(port + 1, '127.0.0.1')
  // The promise rejects if another program uses the port already, which suits this test as well.
  await once(taken, 'listening').catch(() => {})
  expect(await freePort()).not.toBe(port + 1)
  taken.close()
})
