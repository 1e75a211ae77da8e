// Faults: A12
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { parseAddressRules } from '@vitascope/security'
import { passkeySignInRoutes } from '../src/api/session/passkey-sign-in-routes.ts'
import { userSessionRoutes } from '../src/api/session/session-routes.ts'
import { signInLinkRoutes } from '../src/api/session/sign-in-link-routes.ts'
import { type StandIns, startStandIns } from './stand-ins.ts'
import { startTestGateway } from './started-gateway.ts'

let standIns: StandIns
let gateway: Awaited<ReturnType<typeof startTestGateway>>
beforeAll(async () => {
  standIns = await startStandIns()
  gateway = await startTestGateway([...userSessionRoutes, ...signInLinkRoutes, ...passkeySignInRoutes], {
    authAddress: standIns.address,
    trustedProxies: parseAddressRules(['127.0.0.1']).rules ?? [],
  })
})
afterAll(async () => {
  await gateway.stop()
  await standIns.stop()
})

const FORMS: Record<string, (subject: string) => object> = {
  '/session': (subject) => ({ email: `${subject}@example.org`, password: 'a guess' }),
  '/session/link': (subject) => ({ link: subject, password: 'a new password' }),
  '/session/reset': (subject) => ({ email: `${subject}@example.org` }),
  '/session/passkey': (subject) => ({ email: `${subject}@example.org`, password: 'a guess' }),
  '/session/passkey/callback': (subject) => ({
    browser_secret: 'a guess',
    credential: { id: subject, response: { clientDataJSON: 'a', authenticatorData: 'b', signature: 'c' } },
  }),
}

/** Sends a request from an address. Returns its status: 404 is the response of the stand-in for auth. */
async function send(path: string, subject: string, address: string): Promise<number> {
  const { status } = await fetch(`${gateway.url}/v2${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify(FORMS[path]?.(subject)),
  })
  return status
}

async function sendAll(count: number, one: (i: number) => Promise<number>): Promise<number[]> {
  const statuses: number[] = []
  for (let i = 0; i < count; i++) statuses.push(await one(i))
  return statuses
}

test.each(Object.keys(FORMS).map((path, i) => [path, `192.0.2.${i + 1}`] as const))(
  'an address may send POST %s ten times a minute for one user, even if all other limits are off',
  async (path, address) => {
    // Links and ids of passkeys are case-sensitive, addresses are not.
    const spellings = ['/session/link', '/session/passkey/callback'].includes(path) ? [`of-${address}`] : [`of-${address}`, `OF-${address}`]
    const statuses = await sendAll(12, (i) => send(path, spellings[i % spellings.length] ?? '', address))
    expect(statuses).toEqual([...Array(10).fill(404), 429, 429])
    expect(await send(path, `another-${address}`, address)).toBe(404)
  },
)

test('an address may send all of them together 30 times a minute', async () => {
  const paths = Object.keys(FORMS)
  const statuses = await sendAll(33, (i) => send(paths[i % paths.length] ?? '', `user-${i}`, '198.51.100.7'))
  expect(statuses).toEqual([...Array(30).fill(404), 429, 429, 429])
  expect(await send('/session', 'user-1', '198.51.100.8')).toBe(404)
})

test('passwords for a passkey and for a session have one budget', async () => {
  const statuses = await sendAll(12, (i) => send(i % 2 === 0 ? '/session' : '/session/passkey', 'two-factors', '198.51.100.30'))
  expect(statuses).toEqual([...Array(10).fill(404), 429, 429])
})

test('sign-ins by a passkey alone are limited by their address', async () => {
  const begin = () =>
    fetch(`${gateway.url}/v2/session/passkey`, { method: 'POST', headers: { 'x-forwarded-for': '198.51.100.31' } }).then(
      ({ status }) => status,
    )
  expect(await sendAll(32, begin)).toEqual([...Array(30).fill(404), 429, 429])
})

test('all addresses together may try one user 100 times a minute', async () => {
  const statuses = await sendAll(102, (i) => send('/session', 'attacked', `203.0.113.${i}`))
  expect(statuses).toEqual([...Array(100).fill(404), 429, 429])
  // Requests for a new password have a budget of their own.
  expect(await send('/session/reset', 'attacked', '203.0.113.200')).toBe(404)
})

test.each(Object.keys(FORMS))('POST %s of a page of another site is rejected', async (path) => {
  for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { 'sec-fetch-site': 'same-site' }, { origin: 'https://evil.example' }]) {
    const response = await fetch(`${gateway.url}/v2${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers } as Record<string, string>,
      body: JSON.stringify(FORMS[path]?.('x')),
    })
    expect([response.status, await response.json()]).toMatchObject([403, { code: 'foreign_page' }])
  }
})

test('the audit log has these requests without their secrets', async () => {
  await send('/session/link', 'secret-of-a-link', '198.51.100.20')
  const entries = standIns.audit.flatMap((call) => call.entries)
  expect(entries.at(-1)).toMatchObject({ action: 'session::post', object: '/session/link', address: '198.51.100.20' })
  expect(JSON.stringify(standIns.audit)).not.toContain('secret-of-a-link')
})
