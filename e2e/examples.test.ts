import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { freePort } from '@vitascope/embedded-postgres'
import { browserArguments, browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type Frame, type Page } from 'playwright-core'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { startThirdPartySite, type ThirdPartySite } from './support/third-party-site.ts'
import { createTenant, createUser, type Tenant, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const EXAMPLES = join(import.meta.dirname, '../examples')
const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe

let folder: string
let file: string
let platform: TestPlatform
let tenant: Tenant
let site: { url: string; output: () => string; process: ChildProcess }

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'examples-'))
  await makeSource(folder, 'small.mp4')
  file = join(folder, 'small.mp4')
  platform = await startTestPlatform()
  tenant = await createTenant(platform.system)
  site = await startSite()
}, 120_000)
afterAll(async () => {
  site?.process.kill()
  await platform?.remove()
  await rm(folder, { recursive: true, force: true })
})

/** Creates the webhook and starts the site, as its README describes. */
async function startSite(): Promise<typeof site> {
  const port = await freePort()
  const { body } = await platform.withKey(tenant.key).post<{ secret: string }>('/webhook', {
    organisation_id: tenant.organisationId,
    url: `http://127.0.0.1:${port}/webhook`,
    events: ['video.created', 'video.ready', 'video.failed'],
  })
  const resources = ['upload::post', 'video::get', 'video::put', 'video::post']
  const { key } = await createUser(platform.system, tenant.organisationId, 'standard', resources)
  const child = spawn(process.execPath, [join(EXAMPLES, 'node-site/server.mjs')], {
    env: {
      ...{ VITASCOPE_URL: platform.url, VITASCOPE_KEY: key, ORGANISATION: tenant.organisationId },
      ...{ WEBHOOK_SECRET: body.secret, PORT: String(port) },
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk))
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit').then(() => Promise.reject(new Error(output)))])
  return { url: `http://127.0.0.1:${port}`, output: () => output, process: child }
}

test('the site uploads a file, protects the video by a webhook, lists it and plays it with a token', async () => {
  const api = platform.withKey(tenant.key)
  const ticket = await fetch(`${site.url}/uploads`, { method: 'POST', body: new URLSearchParams({ name: 'From the <site>' }) })
  const { url } = (await ticket.json()) as { url: string }
  const upload = await fetch(url, { method: 'PUT', body: await readFile(file), headers: { 'content-type': 'video/mp4' } })
  const id = upload.headers.get('x-video-id') ?? ''
  expect([ticket.status, upload.status]).toEqual([201, 201])

  const video = await waitUntilSettled(api, id)
  expect(video.status.status).toBe('ok')
  for (const type of ['video.created', 'video.ready'])
    await waitFor(async () => site.output().includes(`${type} ${id}`), { timeout: 30_000, describe: `the event ${type}` })
  expect(await (await fetch(site.url)).text()).toContain(`<a href="/watch/${id}">From the &lt;site&gt;</a>`)

  const { body } = await api.get<VideoRecord>(`/video/${id}`)
  const page = await (await fetch(`${site.url}/watch/${id}`)).text()
  const [, token = ''] = /\?token=([^"]+)"/.exec(page) ?? []
  expect((await fetch(`${body.uri.hls}?token=${token}`)).status).toBe(200)
  await waitFor(async () => (await fetch(body.uri.hls)).status === 403, { describe: 'the files to require a token' })
  expect((await platform.guest.get(`/video/${id}`)).status).toBe(200)
}, 150_000)

test('the site rejects events without a valid signature, and has pages for errors', async () => {
  const headers = { 'webhook-id': '1', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)), 'webhook-signature': 'v1,AAAA' }
  const forged = await fetch(`${site.url}/webhook`, { method: 'POST', headers, body: '{"type":"video.created","data":{"video_id":"1"}}' })
  expect(forged.status).toBe(401)
  expect((await fetch(`${site.url}/webhook`, { method: 'POST', body: '{}' })).status).toBe(401)
  expect((await fetch(`${site.url}/watch/1`)).status).toBe(404)
  expect((await fetch(`${site.url}/nothing`)).status).toBe(404)
})

describeInBrowser('in a browser', () => {
  let browser: Browser
  let other: ThirdPartySite
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
    other = await startThirdPartySite()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await other?.close()
  })

  const playerFrame = async (page: Page): Promise<Frame> => {
    await page.locator('iframe').waitFor()
    const frame = await (await page.locator('iframe').elementHandle())?.contentFrame()
    if (!frame) throw new Error('the page has no frame')
    return frame
  }

  /** Starts the video in the frame and waits until its picture moves. */
  const plays = async (frame: Frame) => {
    await frame.locator('video').waitFor({ timeout: extendTimeout(30_000) })
    const position = () =>
      frame.evaluate<number>(`(() => {
      const video = document.querySelector('vitascope-player')?.shadowRoot?.querySelector('video') ?? document.querySelector('video')
      video.muted = true
      video.play().catch(() => undefined)
      return video.currentTime
    })()`)
    await waitFor(async () => (await position()) > 0.2, { timeout: 30_000, describe: 'the video to play' })
  }

  test('a visitor of the site uploads a file and watches it, and the embed page plays a public video', async () => {
    const page = await browser.newPage()
    await page.goto(site.url)
    await page.getByLabel('Video file').setInputFiles(file)
    await page.getByRole('button', { name: 'Upload' }).click()
    await page.waitForURL('**/watch/*')
    const id = page.url().split('/').at(-1) ?? ''
    expect((await waitUntilSettled(platform.withKey(tenant.key), id)).status.status).toBe('ok')
    await waitFor(async () => site.output().includes(`video.created ${id}`), { describe: 'the video to be protected' })
    await page.reload()
    await plays(await playerFrame(page))

    const api = platform.withKey(tenant.key)
    await api.patch(`/video/${id}`, { visibility: 'public', security: { token_required_platform: false } })
    const { body } = await api.get<VideoRecord>(`/video/${id}`)
    await waitFor(async () => (await fetch(body.uri.hls)).status === 200, { describe: 'the files to require no token' })
    const template = await readFile(join(EXAMPLES, 'embed/page.html'), 'utf8')
    other.serve('/post', template.replaceAll('PLATFORM', platform.url).replaceAll('VIDEO', id))
    await page.goto(`${other.url}/post`)
    await plays(await playerFrame(page))
    const box = await page.locator('iframe').boundingBox()
    expect((box?.width ?? 0) / (box?.height ?? 1)).toBeCloseTo(16 / 9, 1)
    await page.close()
  }, 150_000)

  test('the embed page has the frame that the oEmbed document describes', async () => {
    const { body } = await platform.system.get<{ videos: VideoRecord[] }>(`/video?organisation_id=${tenant.organisationId}`)
    const [video] = body.videos
    await platform.withKey(tenant.key).patch(`/video/${video?.video_id}`, {
      visibility: 'public',
      security: { token_required_platform: false },
    })
    const address = `${platform.url}/player/${video?.video_id}`
    const oembed = (await (await fetch(`${platform.url}/oembed?url=${encodeURIComponent(address)}`)).json()) as { html: string }
    const attributes = (html: string) =>
      Object.fromEntries(
        [...(/<iframe([^>]*)>/.exec(html)?.[1] ?? '').matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
      )
    const template = attributes(await readFile(join(EXAMPLES, 'embed/page.html'), 'utf8'))
    const actual = attributes(oembed.html)
    for (const name of ['sandbox', 'allow']) expect([name, template[name]]).toEqual([name, actual[name]])
    expect(actual['src']).toBe(address)
  })
})
