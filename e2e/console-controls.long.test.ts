import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import { VIDEO_TABS } from '../apps/console/src/video/video-search.ts'
import { createPerson, settle, signIn } from './support/console-page.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, upload, waitUntilSettled } from './support/video-steps.ts'
import { walkControls } from './support/walk-controls.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const EMAIL = 'root@example.org'
const PASSWORD = 'correct horse battery'

/** Every page of the router. Each tab of a video is a page here. */
const PAGES = [
  ...['/videos', '/videos?layout=table', '/videos/$videoId'],
  ...VIDEO_TABS.filter((tab) => tab !== 'details').map((tab) => `/videos/$videoId?tab=${tab}`),
  ...['/playlists', '/playlists/$playlistId', '/profiles', '/analytics', '/forms', '/audit', '/webhooks', '/keys', '/users'],
  ...[
    '/organisation',
    '/account',
    '/system/organisations',
    '/system/jobs',
    '/system/workers',
    '/system/storage',
    '/system/failovers',
    '/system/health',
    '/system/audit',
  ],
]
/** Other paths in the router: redirects, the sign-in page, and paths relative to `/system`. */
const OTHER_PATHS = ['/', '/sign-in', '/review', '/system', '/organisations', '/jobs', '/health', '/workers', '/storage', '/failovers']
/** Buttons that open a dialog, whose controls are used too. */
const DIALOGS = [
  ['/videos', 'Upload videos'],
  ['/playlists', 'Create a playlist'],
  ['/forms', 'Create a form'],
  ['/webhooks', 'Add a webhook'],
  ['/webhooks', 'Change'],
  ['/webhooks', 'Rotate the secret'],
  ['/keys', 'Create a key'],
  ['/users', 'Add a user'],
] as const

let folder: string
let sources: SourceServer
let platform: TestPlatform
let browser: Browser
let page: Page
let ids: Record<string, string>

const addressOf = (path: string) => `${platform.url}/console${path.replace(/\$(\w+)/, (_, name: string) => ids[name] ?? '')}`
const open = async (path: string) => {
  // The first attempt fails if a download of the previous page is just starting.
  await page.goto(addressOf(path)).catch(() => page.goto(addressOf(path)))
  await settle(page)
}

describeInBrowser('every control of the console sends a request or changes the page:', () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'console-controls-'))
    await makeSource(folder, 'other.mp4')
    sources = await startSourceServer(folder)
    platform = await startTestPlatform()
    const tenant = await createTenant(platform.system)
    const api = platform.withKey(tenant.key)
    await createPerson(platform.system, { email: EMAIL, name: 'Rosa Root', userType: 'system', password: PASSWORD, ...tenant })
    const { id: videoId } = await upload(api, tenant.organisationId, `${sources.url}/other.mp4`)
    await waitUntilSettled(api, videoId)
    const { media_id } = (await api.get<{ media_id: string }>(`/video/${videoId}`)).body
    const content = 'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nGood morning\n'
    const playlist = { title: 'Best of' }
    const form = { primary_text: 'Who?', button_text: 'Send' }
    const webhook = { url: 'https://hooks.example.org/video', events: ['video.ready'] }
    const created = {
      caption: await api.post('/caption', { media_id, title: 'English', language: 'en', format: 'vtt', content }),
      chapters: await api.patch(`/video/${videoId}`, { tags: ['orbit'], chapters: [{ title: 'Launch', start: '1' }] }),
      playlist: await api.post<{ playlist_id: string }>(`/playlist/create/${tenant.organisationId}`, playlist),
      form: await api.post('/contact-form', form),
      webhook: await api.post('/webhook', webhook),
    }
    const failed = Object.entries(created).filter(([, { status }]) => status >= 300)
    expect(failed.map(([name, { body }]) => [name, body])).toEqual([])
    ids = { videoId, playlistId: created.playlist.body.playlist_id }
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
    const context = await browser.newContext({ viewport: { width: 1440, height: 1000 }, locale: 'en-GB', reducedMotion: 'reduce' })
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    page = await context.newPage()
    page.setDefaultTimeout(30_000)
    // The player is not loaded, so that its controls are not used and its requests do not count as effects.
    await page.route('**/player/**', (route) => route.abort())
    await page.goto(`${platform.url}/console/videos`)
    await signIn(page, EMAIL, PASSWORD)
    await page.getByRole('heading', { name: 'Videos' }).waitFor()
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await sources?.close()
    await platform?.remove()
    await rm(folder, { recursive: true, force: true })
  })

  test('all pages of the router are in the list', async () => {
    const router = await readFile(new URL('../apps/console/src/router.tsx', import.meta.url), 'utf8')
    const paths = [...router.matchAll(/\bpath: '([^']+)'/g)].map(([, path]) => path)
    const known = new Set([...OTHER_PATHS, ...PAGES.map((path) => path.split('?')[0])])
    expect(paths.filter((path) => !known.has(path))).toEqual([])
  })

  test.each(PAGES)(
    '%s',
    async (path) => {
      const scope = path.includes('tab=') ? page.getByRole('tabpanel').first() : page.locator('main')
      const { used, dead } = await walkControls({ page, open: () => open(path), scope })
      expect(used).not.toEqual([])
      expect(dead).toEqual([])
    },
    180_000,
  )

  test.each(DIALOGS)(
    'the dialog of %s: %s',
    async (path, button) => {
      const openDialog = async () => {
        await open(path)
        await page.locator('main').getByRole('button', { name: button }).first().click()
        await page.getByRole('dialog').waitFor()
      }
      const { used, dead } = await walkControls({ page, open: openDialog, scope: page.getByRole('dialog') })
      expect(used).not.toEqual([])
      expect(dead).toEqual([])
    },
    180_000,
  )

  test('the frame of all pages', async () => {
    // console-browser.test.ts tests this button.
    const isSkipped = (name: string) => name.includes('Sign out')
    for (const scope of [page.locator('header').first(), page.locator('nav').first()]) {
      const { used, dead } = await walkControls({ page, open: () => open('/playlists'), scope, isSkipped })
      expect(used).not.toEqual([])
      expect(dead.filter((name) => !name.includes('Playlists'))).toEqual([])
    }
  }, 180_000)
})
