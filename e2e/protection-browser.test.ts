import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import { chromium } from 'playwright-core'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { startThirdPartySite, type ThirdPartySite } from './support/third-party-site.ts'
import { createTenant, type Tenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const GUIDE = join(import.meta.dirname, '../docs/guides/protect-videos.md')
const SCREENSHOTS = process.env['VITASCOPE_SCREENSHOTS']
const browserFile = browserPath()
const testInBrowser = browserFile === undefined ? test.skip : test

let folder: string
let platform: TestPlatform
let sources: SourceServer
let site: ThirdPartySite
let tenant: Tenant

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  site = await startThirdPartySite()
  await makeSource(folder, 'small.mp4')
  await makeSource(folder, 'minute.mp4')
  platform = await startTestPlatform()
  tenant = await createTenant(platform.system)
}, 120_000)
afterAll(async () => {
  await platform?.remove()
  await site?.close()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

const api = () => platform.withKey(tenant.key)
const uploadVideo = async (source = 'small.mp4', fields: object = {}) => {
  const { id } = await upload(api(), tenant.organisationId, `${sources.url}/${source}`, { name: 'Only here', ...fields })
  expect((await waitUntilSettled(api(), id)).status.status).toBe('ok')
  return id
}

testInBrowser(
  'a video plays on the page of an allowed domain, and on no other page',
  async () => {
    const id = await uploadVideo()
    // biome-ignore lint/suspicious/noThenProperty: the name of a field in JSON; the object is never awaited.
    const rules = [{ when: { domain: ['localhost'] }, then: 'allow' }]
    expect((await api().put(`/video/${id}/playback-rules`, { default: 'deny', rules })).status).toBe(200)
    const { body: code } = await platform.guest.get<[string]>(`/embed/${id}/iframe`)
    site.serve('/news', `<h1>News</h1>${code[0]}`)
    const { port } = new URL(site.url)
    const browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
    try {
      const open = async (url: string) => {
        const page = await browser.newPage({ viewport: { width: 1_000, height: 800 } })
        await page.goto(url)
        return page
      }
      const screenshot = async (page: Awaited<ReturnType<typeof open>>, name: string) => {
        if (SCREENSHOTS === undefined) return
        await mkdir(SCREENSHOTS, { recursive: true })
        await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) })
      }
      const allowed = await open(`http://localhost:${port}/news`)
      const frame = allowed.frameLocator('iframe')
      await frame.locator('.start').click({ timeout: extendTimeout(20_000) })
      await waitFor(async () => (await frame.locator('video').evaluate((video: { currentTime: number }) => video.currentTime)) > 1, {
        timeout: 30_000,
        describe: 'the picture to pass 1 s on the allowed page',
      })
      await screenshot(allowed, 'rules-allowed')

      const denied = await open(`http://127.0.0.1:${port}/news`)
      await denied
        .frameLocator('iframe')
        .getByText('not available here')
        .waitFor({ timeout: extendTimeout(20_000) })
      await screenshot(denied, 'rules-denied')
      // The player page is also denied to a request without a referring page.
      const direct = await fetch(`${platform.url}/player/${id}`)
      expect(direct.status).toBe(403)
      // Other domains cannot embed the player page, even if they hide their address: browsers enforce this policy.
      const readPolicy = async (referer: string) =>
        (await fetch(`${platform.url}/player/${id}`, { headers: { referer } })).headers.get('content-security-policy')
      expect(await readPolicy(`http://localhost:${port}/news`)).toContain(`frame-ancestors 'self' http://localhost:* https://localhost:*`)

      const { body: video } = await platform.guest.get<VideoRecord>(`/video/${id}`)
      const fetchFrom = async (origin?: string) => (await fetch(video.uri.hls, { headers: origin === undefined ? {} : { origin } })).status
      expect([await fetchFrom(), await fetchFrom('null'), await fetchFrom(`http://127.0.0.2:${port}`)]).toEqual([403, 403, 403])
      expect(await fetchFrom('http://localhost')).toBe(200)
    } finally {
      await browser.close()
    }
  },
  150_000,
)

testInBrowser(
  'the player exchanges the token of a password before it expires, and loads later files with the new one',
  async () => {
    const { body: setting } = await api().post<{ message: { created: string } }>(`/setting/${tenant.organisationId}`, {
      password: createHash('sha1').update('open sesame').digest('hex'),
    })
    const id = await uploadVideo('minute.mp4', { settings_id: setting.message.created })
    const browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
    try {
      const page = await browser.newPage()
      const segment = /[/]delivery[/]\d+[/]\w+~([^/]+)[/].*[.]m4s$/
      const tokens: (string | undefined)[] = []
      const renewal = Promise.withResolvers<void>()
      await page.route(segment, async (route) => {
        const token = segment.exec(route.request().url())?.[1]
        tokens.push(token)
        // Holds segments with the first token. Otherwise the player would load the whole video before it exchanges the token.
        const isHeld = tokens.length > 4 && token === tokens[0]
        if (isHeld) await renewal.promise
        return isHeld ? route.abort() : route.continue()
      })
      const isAccess = (response: { url(): string }) => response.url().endsWith(`/video/${id}/access`)
      await page.clock.install()
      await page.goto(`${platform.url}/player/${id}`)
      await page.getByLabel('Password').fill('open sesame')
      const [first] = await Promise.all([page.waitForResponse(isAccess), page.keyboard.press('Enter')])
      const { token } = (await first.json()) as { token: string }
      const readTime = () => page.locator('video').evaluate((video: { currentTime: number }) => video.currentTime)
      // The player may have started by itself, because the viewer has pressed a key.
      const play = () =>
        page.locator('video').evaluate((video: { paused: boolean; play(): Promise<void> }) => (video.paused ? video.play() : undefined))
      const hasPassedFirstSecond = async () => {
        await play()
        return (await readTime()) > 1
      }
      await waitFor(hasPassedFirstSecond, { timeout: 60_000, describe: 'the picture to pass 1 s' })
      expect(new Set(tokens)).toEqual(new Set([token]))

      // The player exchanges a token after 10 minutes. Tokens are valid for 15 minutes.
      const [second] = await Promise.all([page.waitForResponse(isAccess), page.clock.fastForward('10:05')])
      const renewed = (await second.json()) as { token: string }
      expect([second.status(), second.request().postDataJSON()]).toEqual([200, { token }])
      expect(renewed.token).not.toBe(token)
      const sentBefore = tokens.length
      renewal.resolve()
      await page.locator('video').evaluate((video: { currentTime: number }) => {
        video.currentTime = 55
      })
      await waitFor(async () => (await readTime()) > 56, { timeout: 60_000, describe: 'the picture to pass 56 s' })
      expect(new Set(tokens.slice(sentBefore))).toEqual(new Set([renewed.token]))
    } finally {
      await browser.close()
    }
  },
  150_000,
)

describe('the guide to protected videos', () => {
  test('has commands that work', async () => {
    const id = await uploadVideo()
    const blocks = [...(await readFile(GUIDE, 'utf8')).matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block)
    expect(blocks).toHaveLength(8)
    const env = { ...process.env, KEY: tenant.key, API: `${platform.url}/v2`, VIDEO: id, ORGANISATION: tenant.organisationId }
    const output: string[] = []
    for (const block of blocks) {
      const script = `set -euo pipefail\n${block}`
      output.push(
        (
          await promisify(execFile)('bash', ['-c', script], { env }).catch(({ stdout, stderr }) =>
            Promise.reject(new Error(`${block}\n${stdout}${stderr}`)),
          )
        ).stdout,
      )
    }
    const [visibility, token, , access, rules, sessions, downloads, explanation] = output
    expect(visibility).toContain('"visibility":"unlisted"')
    expect(token).toContain('"token":"')
    expect(access).toContain('"expires":')
    expect(downloads?.match(/"url":"http/g)).toHaveLength(2)
    expect(sessions).toBe('[]')
    expect(rules).toContain('"default":"deny"')
    expect(explanation).toMatch(/"allowed":false,"code":"(rule_refused|token_required)"/)
  }, 90_000)
})
