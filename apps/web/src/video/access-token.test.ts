import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { keepAccess } from './access-token.ts'

const MINUTE_MS = 60_000
let responses: (() => Response)[]
let sent: unknown[]
const realFetch = globalThis.fetch

// The wait listens to the events of the connection.
Object.assign(globalThis, { window: new EventTarget() })

beforeEach(() => {
  jest.useFakeTimers({ now: 1_900_000_000_000 })
  sent = []
  globalThis.fetch = async (_, init) => {
    sent.push(JSON.parse(String(init?.body)))
    const next = responses.shift()
    if (!next) throw new Error('no connection')
    return next()
  }
})
afterEach(() => {
  jest.useRealTimers()
  globalThis.fetch = realFetch
})

const createToken = (token: string, minutes: number) => ({ token, expires: (Date.now() + minutes * MINUTE_MS) / 1_000 })
const respond = (token: string) => () => Response.json(createToken(token, 15))
const first = () => ({ token: 'a', expiresMs: Date.now() + 15 * MINUTE_MS })

test('a token is exchanged five minutes before it expires, again after an outage, and no more after a rejection', async () => {
  responses = [
    respond('b'),
    () => new Response(null, { status: 503 }),
    respond('c'),
    () => Response.json({ code: 'password_wrong' }, { status: 403 }),
  ]
  const renewed: string[] = []
  let isLost = false
  const onLost = () => {
    isLost = true
  }
  const ended = keepAccess('42', first(), { onRenewed: (token) => renewed.push(token), onLost }, new AbortController().signal)
  await jest.advanceTimersByTimeAsync(10 * MINUTE_MS - 1)
  expect(sent).toEqual([])
  await jest.advanceTimersByTimeAsync(1)
  expect([sent, renewed]).toEqual([[{ token: 'a' }], ['b']])
  await jest.advanceTimersByTimeAsync(10 * MINUTE_MS + 20_000)
  expect([sent.slice(1), renewed]).toEqual([
    [{ token: 'b' }, { token: 'b' }],
    ['b', 'c'],
  ])
  await jest.advanceTimersByTimeAsync(10 * MINUTE_MS)
  await ended
  expect([sent.length, isLost]).toEqual([4, true])
})

test.each([60, -60])('the exchange happens in time although the clock of the viewer is wrong by %d minutes', async (minutes) => {
  responses = [respond('b')]
  const stop = new AbortController()
  const renewed: string[] = []
  const access = { token: 'a', expiresMs: Date.now() + (15 + minutes) * MINUTE_MS }
  const listeners = { onRenewed: (token: string) => renewed.push(token), onLost: () => {} }
  const ended = keepAccess('42', access, listeners, stop.signal)
  await jest.advanceTimersByTimeAsync(10 * MINUTE_MS)
  stop.abort()
  await ended
  expect(renewed).toContain('b')
})
