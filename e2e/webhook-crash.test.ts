// Faults: C14
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import PostalMime from 'postal-mime'
import { Webhook as Verifier } from 'standardwebhooks'
import { kill } from './support/nemesis.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, waitUntilSettled } from './support/video-steps.ts'

let folder: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'small.mp4')
  platform = await startTestPlatform()
  tenant = await createTenant(platform.system)
}, 120_000)
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

test('killing the catalogue while events are sent loses no event', async () => {
  const api = platform.withKey(tenant.key)
  const taken: { type: string; data: { video_id: string } }[] = []
  let secret = ''
  let started = 0
  let calls = 0
  /** While this promise is pending, no delivery gets a response. */
  let held: Promise<void> | undefined
  sources.setHandler('/hook', async (request, response) => {
    const body = await text(request)
    started++
    await held
    // Every third delivery gets no response.
    if (++calls % 3 === 0) {
      request.socket.destroy()
      return
    }
    taken.push(new Verifier(secret).verify(body, request.headers as Record<string, string>) as (typeof taken)[number])
    response.end()
  })
  const events = ['video.created', 'video.playable', 'video.ready', 'video.failed']
  const webhook = await api.post<{ secret: string }>('/webhook', { url: `${sources.url}/hook`, events })
  expect(webhook.status).toBe(201)
  secret = webhook.body.secret

  const ids: string[] = []
  for (let round = 0; round < 3; round++) {
    // In the first round, the kill interrupts deliveries that wait for their response.
    const interrupted = round === 0 ? Promise.withResolvers<void>() : undefined
    held = interrupted?.promise
    for (let count = 0; count < 4; count++) ids.push((await upload(api, tenant.organisationId, `${sources.url}/none.mp4`)).id)
    if (interrupted) await waitFor(() => started > 0, { timeout: 20_000, describe: 'a delivery to start' })
    const before = platform.pid('catalogue')
    expect(kill(platform, 'catalogue')).toBe(true)
    interrupted?.resolve()
    await waitFor(() => platform.pid('catalogue') !== before && platform.pid('catalogue') !== undefined, { timeout: 15_000 })
    await waitFor(async () => (await api.get('/webhook').catch(() => undefined))?.status === 200, { timeout: 30_000 })
  }
  const { id } = await upload(api, tenant.organisationId, `${sources.url}/small.mp4`, { name: 'Ready <soon>' })
  expect((await waitUntilSettled(api, id)).status.status).toBe('ok')

  const listTypes = (video: string) => [...new Set(taken.filter(({ data }) => data.video_id === video).map(({ type }) => type))]
  const expectedTypes = (video: string) =>
    video === id ? ['video.created', 'video.playable', 'video.ready'] : ['video.created', 'video.failed']
  await waitFor(() => [...ids, id].every((video) => listTypes(video).length === expectedTypes(video).length), {
    timeout: 120_000,
    describe: () => `every event; there are ${taken.length}`,
  })
  for (const video of [...ids, id]) expect(listTypes(video)).toEqual(expectedTypes(video))

  const mails = join(platform.dataDir, 'mail')
  const files = await waitFor(async () => (await readdir(mails)).filter((file) => file.endsWith('.eml')), { timeout: 60_000 })
  const mail = await PostalMime.parse(await readFile(join(mails, files[0] ?? '')))
  expect([files.length, mail.subject]).toEqual([1, 'Your video is ready: Ready <soon>'])
  expect(mail.text).toContain(`${platform.url}/player/${id}`)
  expect(platform.log()).toContain(join(mails, files[0] ?? ''))
}, 300_000)
