// Faults: A8, A9
import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { dump } from './support/database.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { SYSTEM_KEY, startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, createUser, type Tenant, upload, waitUntilSettled } from './support/video-steps.ts'

let folder: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'other.mp4')
  platform = await startTestPlatform()
  tenant = await createTenant(platform.system)
}, 120_000)
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

test('keys, passwords and tokens appear in no database and no log', async () => {
  const secrets: string[] = [SYSTEM_KEY, tenant.key]
  for (let n = 0; n < 20; n++) secrets.push((await createUser(platform.system, tenant.organisationId, 'uploader')).key)
  for (const key of secrets) await platform.withKey(key).get('/video')
  for (const key of secrets.slice(2, 6)) await platform.system.get(`/apikey/${key}`)
  const regenerated = await platform.system.put<{ new_key: string }>(`/apikey/${secrets[2]}/regenerate`)
  secrets.push(regenerated.body.new_key)
  await platform.system.delete(`/apikey/${secrets[3]}`)
  const generated = await platform.system.post<{ key: string }>(
    `/apikey/${tenant.userId}/generate`,
    { application_name: 'twice', resources: [] },
    { 'idempotency-key': 'gives-a-secret' },
  )
  secrets.push(generated.body.key)

  const password = 'correct-horse-battery-staple'
  await platform.system.post('/user', {
    organisation_id: tenant.organisationId,
    first_name: 'A',
    last_name: 'B',
    email: 'pw@example.org',
    password,
  })
  secrets.push(password)

  const oauth = ['token-of-a-third-party', 'refresh-token-of-a-third-party', 'another-token-of-a-third-party']
  const record = { organisation_id: tenant.organisationId, token: oauth[0], other_data: { refresh: oauth[1] } }
  const stored = await platform
    .withKey(tenant.key)
    .post<{ id: string }>('/oauth/thirdparty', record, { 'idempotency-key': 'a-third-party' })
  expect(stored.status).toBe(201)
  const read = await platform.system.get(`/oauth/thirdparty/${stored.body.id}`)
  expect(read.body).toMatchObject({ token: oauth[0], other_data: { refresh: oauth[1] } })
  await platform.withKey(tenant.key).put(`/oauth/thirdparty/${stored.body.id}`, { token: oauth[2], other_data: oauth[0], colour: oauth[1] })
  await platform.withKey(tenant.key).put(`/oauth/thirdparty/${stored.body.id}`, { token: oauth[2] })
  expect((await platform.system.get(`/oauth/thirdparty/attribute/token/value/${oauth[2]}`)).status).toBe(400)
  expect((await platform.system.get(`/oauth/thirdparty/attribute/username/value/${oauth[2]}`)).status).toBe(404)
  secrets.push(...oauth)

  const { id } = await upload(platform.withKey(tenant.key), tenant.organisationId, `${sources.url}/other.mp4`)
  await waitUntilSettled(platform.system, id)
  const token = await platform
    .withKey(tenant.key)
    .post<{ token: string }>(`/video/${id}/token`, { expires_in: 60 }, { 'idempotency-key': 'a-token' })
  expect(token.status).toBe(201)
  secrets.push(token.body.token)

  const webhook = { url: 'https://example.org/hook', events: ['key.expiring'] }
  const hooked = await platform
    .withKey(tenant.key)
    .post<{ webhook_id: string; secret: string }>('/webhook', webhook, { 'idempotency-key': 'a-webhook' })
  const rotated = await platform.withKey(tenant.key).post<{ secret: string }>(`/webhook/${hooked.body.webhook_id}/secret`)
  expect([hooked.status, rotated.status]).toEqual([201, 200])
  for (const { secret } of [hooked.body, rotated.body]) secrets.push(secret, secret.slice('whsec_'.length))

  const videoPassword = 'of-a-video-and-of-nothing-else'
  const sha1 = createHash('sha1').update(videoPassword).digest('hex')
  const profile = await platform
    .withKey(tenant.key)
    .post<{ message: { created: string } }>(`/setting/${tenant.organisationId}`, { password: sha1 }, { 'idempotency-key': 'a-profile' })
  await platform.withKey(tenant.key).patch(`/video/${id}`, { setting_id: profile.body.message.created })
  expect((await platform.guest.get(`/video/${id}/password/${videoPassword}`)).body).toEqual([true])
  expect((await platform.guest.get(`/video/${id}/password/${sha1}`)).body).toEqual([false])
  expect((await platform.guest.get(`/video/7/password/${videoPassword}`)).status).toBe(404)
  secrets.push(videoPassword, sha1)

  const { body } = await platform.guest.get<{ uri: { hls: string } }>(`/video/${id}`)
  await fetch(`${body.uri.hls}?token=${token.body.token}`)
  await platform.withKey(`${tenant.key}x`).get('/video')
  await platform.system.get('/nothing-here')

  expect(new Set(secrets).size).toBe(secrets.length)
  const rows = [...(await dump(platform)).entries()]
  const log = platform.log()
  expect(rows.length).toBeGreaterThan(10)
  expect(log).toContain('/video')
  // bytea is dumped as hex, so plain bytes of a secret would be found.
  const forms = (secret: string) => [secret, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64')]
  for (const secret of secrets) {
    expect(rows.filter(([, text]) => forms(secret).some((form) => text.includes(form))).map(([table]) => table)).toEqual([])
    expect(forms(secret).some((form) => log.includes(form))).toBe(false)
  }
}, 120_000)

test('a malformed key is rejected without a look-up in auth', async () => {
  const before = await countCalls('Authenticate')
  for (let n = 0; n < 50; n++) {
    const { status } = await platform.withKey(`vs_${'x'.repeat(32)}${String(n).padStart(6, '0')}`).get('/video')
    expect(status).toBe(401)
  }
  expect(await countCalls('Authenticate')).toBe(before)
}, 30_000)

/** Returns the number of calls of a method of auth, from its metrics. */
async function countCalls(method: string): Promise<number> {
  const text = await (await fetch(platform.metricsUrl)).text()
  const lines = text
    .split('\n')
    .filter((line) => line.startsWith('vitascope_grpc_call_duration_seconds_count') && line.includes(`/${method}"`))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
