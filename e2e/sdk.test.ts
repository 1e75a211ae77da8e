import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { uploadToTicket, Vitascope, verifyWebhook, type WebhookEvent } from '@vitascope/sdk'
import { browserArguments, browserPath, freePort, startFaultProxy, waitFor } from '@vitascope/testing'
import { chromium } from 'playwright-core'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { SYSTEM_KEY, startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { startThirdPartySite } from './support/third-party-site.ts'
import { createTenant, type Tenant } from './support/video-steps.ts'

const REPOSITORY = join(import.meta.dirname, '..')
const run = promisify(execFile)

let folder: string
let clip: string
let platform: TestPlatform
let sources: SourceServer
let tenant: Tenant
let vitascope: Vitascope

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sdk-'))
  sources = await startSourceServer(folder)
  clip = join(folder, await makeSource(folder, 'small.mp4'))
  platform = await startTestPlatform()
  tenant = await createTenant(platform.system)
  vitascope = new Vitascope({ url: platform.url, key: tenant.key, organisationId: tenant.organisationId })
}, 120_000)
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

test('a video is uploaded, listed and protected, and its events are verified', async () => {
  const events: WebhookEvent[] = []
  let secret = ''
  sources.setHandler('/hook', async (request, response) => {
    events.push(await verifyWebhook(await text(request), request.headers, secret))
    response.end()
  })
  const webhook = await vitascope.webhooks.create({ url: `${sources.url}/hook`, events: ['video.ready'] })
  secret = webhook.secret

  const sent: number[] = []
  const { id, job_id } = await vitascope.videos.upload(clip, {
    title: 'Launch',
    visibility: 'unlisted',
    onProgress: ({ sentBytes }) => sent.push(sentBytes),
  })
  expect(sent.length).toBeGreaterThan(1)
  expect(await vitascope.jobs.get(job_id)).toMatchObject({ video_id: id })
  const video = await vitascope.videos.waitUntilReady(id, { timeoutMs: 90_000 })
  expect(video).toMatchObject({ video_title: 'Launch', visibility: 'unlisted', status: { status: 'ok', progress: 100 } })
  await waitFor(() => events.length > 0, { timeout: 30_000, describe: 'the event' })
  expect(events[0]).toMatchObject({ type: 'video.ready', data: { video_id: id, job_id } })

  await vitascope.videos.update(id, { tags: ['launch'] })
  const found = await vitascope.videos.list({ tag: 'launch' }).toArray()
  expect(found.map(({ video_id }) => video_id)).toEqual([id])

  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const { key_id } = await vitascope.playback.registerKey({ public_key: publicKey.export({ type: 'spki', format: 'pem' }).toString() })
  const key = { id: key_id, privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() }
  await vitascope.videos.update(id, { security: { token_required_platform: true } })
  const { uri } = await vitascope.videos.get(id)
  const status = async (token: string) => (await fetch(`${uri.hls}?token=${token}`)).status
  const own = await vitascope.playback.sign({ videoId: id, expiresInSeconds: 60 }, key)
  await waitFor(async () => (await status(own)) === 200, { describe: 'the token to be accepted' })
  const { token } = await vitascope.playback.createToken(id, { expires_in: 60 })
  expect(await status(token)).toBe(200)
  expect((await fetch(uri.hls)).status).toBe(403)
  expect(await status(await vitascope.playback.sign({ videoId: '1' }, key))).toBe(401)

  await vitascope.call('deletePlaybackKey', { path: { key_id } })
  await vitascope.webhooks.delete(webhook.webhook_id)
  await vitascope.videos.delete(id)
  await expect(vitascope.videos.get(id)).rejects.toMatchObject({ code: 'video_not_found', status: 404 })
}, 180_000)

test('each kind of a claim of a signed token is accepted by the platform', async () => {
  const { id } = await vitascope.videos.upload(new Blob([await readFile(clip)]))
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { key_id } = await vitascope.playback.registerKey({ public_key: pair.publicKey.export({ type: 'spki', format: 'pem' }).toString() })
  const key = { id: key_id, privateKey: pair.privateKey.export({ format: 'jwk' }) }
  await vitascope.videos.update(id, { security: { token_required_platform: true } })
  const claims = {
    ...{ videoId: id, notBefore: new Date(0), domains: ['*.example.com'], ip: '192.0.2.7' },
    ...{ maxHeight: 720, maxSessions: 2, tokenId: 'a', kinds: ['manifest', 'segment'], claims: { group: ['staff'] } },
  }
  const request = {
    video_id: id,
    kind: 'segment',
    address: '192.0.2.7',
    referrer: 'https://www.example.com/',
    height: 360,
  } as const
  await waitFor(
    async () => {
      const payload = { ...request, token: await vitascope.playback.sign(claims, key) }
      return (await vitascope.call('explainPlaybackDecision', { payload })).allowed
    },
    { describe: 'the token to be accepted' },
  )
  await vitascope.call('deletePlaybackKey', { path: { key_id } })
  await vitascope.videos.delete(id)
}, 120_000)

test('a stream, a file for a ticket and URLs become videos', async () => {
  const stream = await vitascope.videos.upload(createReadStream(clip), { filename: 'stream.mp4' })
  const url = await vitascope.videos.upload(new URL(`${sources.url}/small.mp4`), { title: 'From the web' })
  const created = await vitascope.videos.create({ url: `${sources.url}/small.mp4`, name: 'Created', tags: ['web'] })
  const ticket = await vitascope.videos.createUploadTicket({ name: 'By ticket' })
  const file = new File([await readFile(clip)], 'clip.mp4', { type: 'video/mp4' })
  const byTicket = await uploadToTicket(ticket.url, file)
  await expect(uploadToTicket(ticket.url, file)).rejects.toMatchObject({ code: 'ticket_used', status: 410 })
  const titles = await Promise.all([stream, url, created, byTicket].map(async ({ id }) => (await vitascope.videos.get(id)).video_title))
  expect(titles).toEqual(['stream.mp4', 'From the web', 'Created', 'By ticket'])
  for (const { id } of [stream, url, created, byTicket]) await vitascope.videos.waitUntilReady(id, { until: 'playable' })
}, 120_000)

test('a file and a URL replace the source of a media', async () => {
  const { id } = await vitascope.videos.upload(clip)
  const { media_id } = await vitascope.videos.waitUntilReady(id, { timeoutMs: 90_000 })
  for (const source of [clip, new URL(`${sources.url}/small.mp4`)]) {
    const replaced = await vitascope.videos.upload(source, { mediaId: media_id })
    expect(replaced.id).toBe(id)
    expect(await vitascope.jobs.get(replaced.job_id)).toMatchObject({ media_id, action: 'replace' })
  }
  await expect(vitascope.videos.upload(clip, { mediaId: '1' })).rejects.toMatchObject({ code: 'media_not_found', status: 404 })
  await vitascope.videos.delete(id)
}, 120_000)

test('lost responses create no second record, and an upload continues', async () => {
  const proxy = await startFaultProxy(new URL(platform.url).host)
  let responses = 0
  proxy.shouldDropResponse = () => ++responses % 2 === 1
  const lossy = new Vitascope({ url: `http://${proxy.address}`, key: tenant.key, organisationId: tenant.organisationId })
  try {
    const folder = await lossy.call('createFolder', { payload: { name: 'Lossy' } })
    const folders = await vitascope.list('listFolders').toArray()
    expect(folders.flatMap(Object.values).filter(({ name }) => name === 'Lossy')).toHaveLength(1)
    expect(folder.data.name).toBe('Lossy')
    // The box `free` of MP4 makes the file larger than the first part.
    const box = Buffer.alloc(6_000_000)
    box.writeUInt32BE(box.length)
    box.write('free', 4)
    const { id } = await lossy.videos.upload(new Blob([await readFile(clip), box]), { title: 'Lossy' })
    expect((await vitascope.videos.waitUntilReady(id)).status.status).toBe('ok')
    expect(await vitascope.videos.list({ q: 'Lossy' }).toArray()).toHaveLength(1)
    const stream = await lossy.videos.upload(createReadStream(clip), { filename: 'stream.mp4' })
    expect((await vitascope.videos.waitUntilReady(stream.id)).status.status).toBe('ok')
    expect(proxy.lost()).toBeGreaterThan(4)
  } finally {
    await proxy.close()
  }
}, 120_000)

test('a file whose upload the platform has removed is sent as a new upload', async () => {
  const controller = new AbortController()
  const started: string[] = []
  const aborted = vitascope.videos.upload(clip, {
    signal: controller.signal,
    onStart: (id) => {
      started.push(id)
      controller.abort(new Error('stopped'))
    },
  })
  await expect(aborted).rejects.toThrow('stopped')
  const removed = await fetch(`${platform.url}/v2/upload/tus/${started[0]}`, {
    method: 'DELETE',
    headers: { 'tus-resumable': '1.0.0', authorization: `Bearer ${tenant.key}` },
  })
  expect(removed.status).toBe(204)
  const { id } = await vitascope.videos.upload(clip, { uploadId: started[0], onStart: (uploadId) => started.push(uploadId) })
  expect((await vitascope.videos.get(id)).video_id).toBe(id)
  expect(new Set(started).size).toBe(2)
}, 60_000)

test('lists follow the pages of the platform', async () => {
  const names = Array.from({ length: 5 }, (_, index) => `Playlist ${index}`)
  for (const title of names) await vitascope.playlists.create({ title })
  const query = { limit: 2 }
  const list = vitascope.list('listPlaylists', { path: {}, query })
  const pages: number[] = []
  for await (const page of list.pages()) pages.push(page.length)
  expect(pages).toEqual([2, 2, 1])
  expect((await list.toArray()).map(({ title }) => title).toSorted()).toEqual(names)
  expect(await vitascope.analytics.views()).toMatchObject({ organisation_id: tenant.organisationId, video_plays: 0 })
})

test('a system key acts for the organisation of the client', async () => {
  const system = new Vitascope({ url: `${platform.url}/v2/`, key: SYSTEM_KEY, organisationId: tenant.organisationId })
  const { webhook_id } = await system.webhooks.create({ url: `${sources.url}/other-hook`, events: ['video.ready'] })
  expect(await system.webhooks.get(webhook_id)).toMatchObject({ organisation_id: tenant.organisationId })
  const { id } = await system.videos.upload(clip)
  expect(await system.videos.get(id)).toMatchObject({ organisation_id: tenant.organisationId })
})

test('errors of the platform have their code, fields and sentence', async () => {
  const wrongKey = new Vitascope({ url: platform.url, key: `${tenant.key.slice(0, -4)}aaaa` })
  await expect(wrongKey.videos.list().first()).rejects.toMatchObject({
    status: 401,
    message: expect.stringMatching(/^The platform at .* rejected the API key: .*[.]$/),
  })
  const wrongPath = new Vitascope({ url: `${platform.url}/elsewhere`, key: tenant.key })
  await expect(wrongPath.videos.list().first()).rejects.toMatchObject({ code: expect.stringMatching(/^(not_vitascope|outdated_server)$/) })
  await expect(vitascope.webhooks.create({ url: 'not a URL', events: [] })).rejects.toMatchObject({
    ...{ code: 'invalid_input', status: 400, requestId: expect.stringMatching(/./) },
    fields: expect.arrayContaining([expect.objectContaining({ field: 'url' })]),
  })
  const idempotencyKey = 'folder-1'
  const [first, second] = [
    await vitascope.call('createFolder', { payload: { name: 'Once' }, idempotencyKey }),
    await vitascope.call('createFolder', { payload: { name: 'Once' }, idempotencyKey }),
  ]
  expect(second.created).toBe(first.created)
})

const browserFile = browserPath()
const testInBrowser = browserFile === undefined ? test.skip : test

testInBrowser(
  'the SDK uploads, follows and protects a video in a page of another origin',
  async () => {
    const site = await startThirdPartySite()
    const dist = join(REPOSITORY, 'packages/sdk/dist')
    for (const name of await readdir(dist)) {
      if (name.endsWith('.js')) site.serveScript(`/sdk/${name}`, await readFile(join(dist, name), 'utf8'))
    }
    const options = JSON.stringify({ url: platform.url, key: tenant.key, organisationId: tenant.organisationId })
    site.serveScript(
      '/page.js',
      `import { Vitascope } from '/sdk/index.js'
    const vitascope = new Vitascope(${options})
    const parts = []
    window.result = (async () => {
      const bytes = await (await fetch('${sources.url}/small.mp4')).arrayBuffer()
      const file = new File([bytes, new Uint8Array(6_000_000)], 'page.mp4', { type: 'video/mp4' })
      const { id } = await vitascope.videos.upload(file, { title: 'From a page', onProgress: ({ sentBytes }) => parts.push(sentBytes) })
      const video = await vitascope.videos.waitUntilReady(id, { until: 'playable' })
      const { privateKey } = await crypto.subtle.generateKey('Ed25519', true, ['sign'])
      const token = await vitascope.playback.sign({ videoId: id }, { id: '1', privateKey: await crypto.subtle.exportKey('jwk', privateKey) })
      const error = await vitascope.videos.get('1').catch(({ code }) => code)
      const found = await vitascope.videos.list({ q: 'page' }).toArray()
      return { id, title: video.video_title, parts: parts.length, tokenParts: token.split('.').length, error, found: found.length }
    })().catch(({ message }) => ({ message }))`,
    )
    site.serve('/page', '<script type="module" src="/page.js"></script>')
    sources.setHandler('/small.mp4', async (_, response) => {
      response.setHeader('access-control-allow-origin', '*')
      response.end(await readFile(clip))
    })
    const browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
    try {
      const page = await browser.newPage()
      await page.goto(`${site.url}/page`)
      const result = await page.evaluate(() => Reflect.get(globalThis, 'result') as Promise<Record<string, unknown>>)
      expect(result).toEqual({
        ...{ id: expect.stringMatching(/^\d+$/), title: 'From a page', parts: expect.any(Number), tokenParts: 3 },
        ...{ error: 'video_not_found', found: 1 },
      })
      expect(result['parts']).toBeGreaterThan(1)
    } finally {
      await browser.close()
      await site.close()
    }
  },
  120_000,
)

describe('the documents', () => {
  const read = async (file: string) =>
    [...(await readFile(join(REPOSITORY, file), 'utf8')).matchAll(/```ts\n(.*?)```/gs)].map(([, block = '']) => block).join('\n')
  /** Runs all snippets of a document as one program, in the order of the document. */
  const runDocument = async (file: string) => {
    const app = await mkdtemp(join(folder, 'app-'))
    await symlink(join(REPOSITORY, 'node_modules'), join(app, 'node_modules'))
    await copyFile(clip, join(app, 'clip.mp4'))
    await writeFile(join(app, 'app.ts'), await read(file))
    const port = String(await freePort())
    const env = {
      ...process.env,
      ...{ VITASCOPE_URL: platform.url, VITASCOPE_KEY: tenant.key, ORGANISATION: tenant.organisationId },
      ...{ HOOK_URL: `http://127.0.0.1:${port}`, HOOK_PORT: port },
    }
    return (await run(process.execPath, ['app.ts'], { cwd: app, env })).stdout
  }

  test('the snippets of the README work as they are written', async () => {
    const output = await runDocument('packages/sdk/README.md')
    expect(output).toMatch(/\d+ of \d+ bytes\n[\s\S]*https?:.*master[.]m3u8\n/)
    expect(output).toMatch(/invalid_input 400 .+\nurl .+/)
  }, 120_000)

  test('the snippets of the guide work as they are written', async () => {
    const output = await runDocument('docs/guides/use-the-sdk.md')
    expect(output).toMatch(/sent \d+ \d+\n/)
    expect(output).toMatch(/duration 6/)
    expect(output).toMatch(/missing 404 /)
    const playlist = /playlist (\S+)/.exec(output)?.[1] ?? ''
    await waitFor(async () => (await fetch(playlist)).status === 200, { describe: 'the token of the guide to be accepted' })
    expect((await fetch(playlist.replace(/[?].*/, ''))).status).toBe(403)
  }, 120_000)
})
