import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import type { Api } from './support/api.ts'
import { createPerson, expectNoSidewaysScroll, openConsolePage, settle, signIn } from './support/console-page.ts'
import { checkState } from './support/page-state.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const HOSTILE = `<img src=x onerror="document.title='hacked'"> & "quotes" <script>document.title='hacked'</script>`
const PASSWORD = 'correct horse battery'
const VIDEOS_PER_PAGE = 24
/** Number of further videos. With the first one and the hostile one there are 27, which need two pages. */
const NUMBERED = 25

let folder: string
let sources: SourceServer
let platform: TestPlatform
let tenant: Tenant
let api: Api
let path: string

/** Creates another video of the media of a playable one. */
async function publish(mediaId: string, fields: Record<string, unknown>): Promise<string> {
  const { status, body } = await api.post<{ video_id: string }>(`/media/${mediaId}/publish`)
  expect(status).toBe(201)
  await change(body.video_id, fields)
  return body.video_id
}
async function change(videoId: string, fields: Record<string, unknown>): Promise<void> {
  const { status, body } = await api.patch(`/video/${videoId}`, fields)
  expect([status, body]).toEqual([200, expect.anything()])
}
async function uploadPlayable(target: Api, { organisationId }: Tenant, title: string): Promise<VideoRecord> {
  const { id } = await upload(target, organisationId, `${sources.url}/other.mp4`, { title })
  const video = await waitUntilSettled(target, id)
  expect(video.status.status).toBe('ok')
  return video
}
/** Fetches the page without a browser. Returns the names of its videos in addition to the response. */
async function read(query = '', target = path): Promise<{ status: number; headers: Headers; html: string; names: string[] }> {
  const response = await fetch(`${platform.url}${target}${query}`)
  const html = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    html,
    names: [...html.matchAll(/class="name">([^<]*)</g)].map(([, name = '']) => name),
  }
}
/** Follows the links to the next page. Returns the names of the videos of all pages. */
async function readAll(query = ''): Promise<string[]> {
  const names: string[] = []
  for (let next: string | undefined = query; next !== undefined; ) {
    const { status, html, names: found } = await read(next)
    expect(status).toBe(200)
    names.push(...found)
    next = /href="\/o\/\d+(\?[^"]*cursor=[^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&')
  }
  return names
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sources-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'other.mp4')
  platform = await startTestPlatform()
  tenant = await createTenant(platform.system)
  await platform.system.put(`/organisation/${tenant.organisationId}`, { name: 'Films & <b>more</b>' })
  api = platform.withKey(tenant.key)
  path = `/o/${tenant.organisationId}`
  const first = await uploadPlayable(api, tenant, 'The first rocket')
  // The search also finds words of the media, which all these videos have in common.
  await change(first.video_id, { media_title: 'Film' })
  for (let nth = 1; nth <= NUMBERED; nth++) await publish(first.media_id, { title: `Number ${nth}` })
  await publish(first.media_id, { title: HOSTILE })
}, 180_000)
afterAll(async () => {
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

describe('without the setting of the organisation', () => {
  test('there is no page, as for an unknown organisation', async () => {
    const { body } = await platform.system.get<{ public_page: boolean }>(`/organisation/${tenant.organisationId}`)
    expect(body.public_page).toBe(false)
    const off = await read()
    const unknown = await read('', '/o/999999')
    expect([off.status, unknown.status, (await read('', '/o/x')).status]).toEqual([404, 404, 404])
    const withoutId = (html: string) => ({ ...JSON.parse(html), request_id: '' })
    expect(withoutId(off.html)).toEqual(withoutId(unknown.html))
  })
  test('only a system user switches the page on', async () => {
    const target = `/organisation/${tenant.organisationId}`
    expect((await api.put(target, { public_page: true })).status).toBe(403)
    expect((await platform.system.put(target, { public_page: true })).status).toBe(200)
    expect((await read()).status).toBe(200)
  })
})

describe('with the setting', () => {
  beforeAll(async () => {
    await platform.system.put(`/organisation/${tenant.organisationId}`, { public_page: true })
  })

  test('the page lists the public videos on several pages, the newest first', async () => {
    const { html, names, headers } = await read()
    expect(names).toHaveLength(VIDEOS_PER_PAGE)
    expect(headers.get('cache-control')).toBe('private, no-cache')
    expect(headers.get('content-security-policy')).toContain(`default-src 'none'`)
    expect(html).not.toContain('<script')
    const all = await readAll()
    expect(all).toHaveLength(NUMBERED + 2)
    expect([all[1], all.at(-1)]).toEqual([`Number ${NUMBERED}`, 'The first rocket'])
    expect((await read('', path)).html).toContain('<span class="hidden">Duration </span>0:04')
    expect((await read('?cursor=nonsense')).status).toBe(400)
  })

  test('the search finds words of titles, and has pages of its own', async () => {
    expect((await read('?q=rocket')).names).toEqual(['The first rocket'])
    const all = await readAll('?q=number')
    expect([all.length, new Set(all).size]).toEqual([NUMBERED, NUMBERED])
    const none = await read('?q=zzzzzzzz')
    expect([none.status, none.names]).toEqual([200, []])
    expect(none.html).toContain('No public video matches.')
    expect((await read(`?q=${'x'.repeat(201)}`)).status).toBe(400)
  })

  test('the page never lists a video that a guest may not find and play', async () => {
    const { media_id: mediaId } = await uploadPlayable(api, tenant, 'Secret public')
    const profile = { title: 'Locked', password_protected: 1, password: 'f0'.repeat(20) }
    const locked = await api.post<{ message: { created: string } }>(`/setting/${tenant.organisationId}`, profile)
    expect(locked.status).toBe(201)
    const closed: Record<string, string> = {
      private: await publish(mediaId, { title: 'Secret private', visibility: 'private' }),
      unlisted: await publish(mediaId, { title: 'Secret unlisted', visibility: 'unlisted' }),
      disabled: await publish(mediaId, { title: 'Secret disabled', enabled: 0 }),
      expired: await publish(mediaId, { title: 'Secret expired', content_expiry: { time: '2020-01-01 00:00:00' } }),
      addresses: await publish(mediaId, { title: 'Secret addresses', security: { allowed_ips: ['127.0.0.0/8'] } }),
      password: await publish(mediaId, { title: 'Secret password', setting_id: locked.body.message.created }),
      embargoed: await publish(mediaId, { title: 'Secret embargoed' }),
      files: await publish(mediaId, { title: 'Secret files' }),
    }
    const setRules = async (id: string | undefined, when: Record<string, unknown>) => {
      // biome-ignore lint/suspicious/noThenProperty: the name of a field in JSON; the object is never awaited.
      const rules = [{ when, then: 'allow' }]
      const { status, body } = await api.put(`/video/${id}/playback-rules`, { default: 'deny', rules })
      expect([status, body]).toEqual([200, expect.anything()])
    }
    await setRules(closed['embargoed'], { time: { from: '2999-01-01 00:00:00' } })
    await setRules(closed['files'], { kind: ['page'] })
    expect(await readAll('?q=secret')).toEqual(['Secret public'])
    expect((await readAll()).filter((name) => name.startsWith('Secret'))).toEqual(['Secret public'])
    // A token for files concerns all videos of the media.
    const { body } = await api.get<{ videos: VideoRecord[] }>('/video?q=secret+public')
    await change(body.videos[0]?.video_id ?? '', { security: { token_required_platform: true } })
    expect(await readAll('?q=secret')).toEqual([])
    // Another organisation, whose page is on as well.
    const other = await createTenant(platform.system)
    await uploadPlayable(platform.withKey(other.key), other, 'Secret of others')
    await platform.system.put(`/organisation/${other.organisationId}`, { public_page: true })
    expect((await read('', `/o/${other.organisationId}`)).names).toEqual(['Secret of others'])
    expect(await readAll('?q=secret')).toEqual([])
  }, 120_000)

  test('the page ends with the setting and with the organisation', async () => {
    const target = `/organisation/${tenant.organisationId}`
    for (const off of [{ public_page: false }, { status: 'inactive' }]) {
      expect((await platform.system.put(target, off)).status).toBe(200)
      expect((await read()).status).toBe(404)
      await platform.system.put(target, { public_page: true, status: 'active' })
    }
    expect((await read()).status).toBe(200)
  })
})

describeInBrowser('in a browser', () => {
  let browser: Browser
  let page: Page
  let problems: string[]
  beforeAll(async () => {
    await platform.system.put(`/organisation/${tenant.organisationId}`, { public_page: true })
    const person = { password: PASSWORD, organisationId: tenant.organisationId }
    await createPerson(platform.system, { email: 'root@example.org', name: 'Grace Root', userType: 'system', ...person })
    await createPerson(platform.system, { email: 'ada@example.org', name: 'Ada Byron', userType: 'standard', ...person })
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
  }, 60_000)
  afterAll(() => browser?.close())
  beforeEach(async () => {
    problems = []
    page = await openConsolePage(browser, (problem) => problems.push(problem))
  })
  afterEach(async () => {
    await page.context().close()
    expect(problems).toEqual([])
  })

  test('a guest searches by keyboard, turns the page and opens a video', async () => {
    await page.goto(`${platform.url}${path}`)
    await page.getByRole('heading', { level: 1, name: 'Films & <b>more</b>' }).waitFor()
    await page.getByText(HOSTILE).waitFor()
    expect(await page.title()).toBe('Films & <b>more</b> · Vitascope')
    await checkState(page, 'public-page')
    await expectNoSidewaysScroll(page)
    const picture = page.locator('.videos img').first()
    await picture.waitFor()
    await page.waitForFunction(`document.querySelector('.videos img').naturalWidth > 0`)
    await page.getByRole('link', { name: 'Next page' }).click()
    await page.getByText('The first rocket').waitFor()
    await page.getByRole('link', { name: 'First page' }).click()
    await page.getByText(HOSTILE).waitFor()
    // The brand, the name, and then the search.
    for (let tabs = 0; tabs < 3; tabs++) await page.keyboard.press('Tab')
    await page.keyboard.type('rocket')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Results for “rocket”' }).waitFor()
    expect(await page.getByRole('searchbox').inputValue()).toBe('rocket')
    await checkState(page, 'public-page-search')
    await page.getByRole('link', { name: 'The first rocket' }).click()
    await page.locator('vitascope-player').waitFor()
    expect(page.url()).toContain('/player/')
  }, 90_000)

  test('a hostile search text is shown as text', async () => {
    await page.goto(`${platform.url}${path}?q=${encodeURIComponent(HOSTILE)}`)
    await page.getByRole('heading', { name: `Results for “${HOSTILE}”` }).waitFor()
    expect(await page.getByRole('searchbox').inputValue()).toBe(HOSTILE)
    expect(await page.title()).not.toBe('hacked')
  }, 60_000)

  test('a system user switches the page off and on in the console, other users see its address', async () => {
    await page.goto(`${platform.url}/console/organisation`)
    await signIn(page, 'root@example.org', PASSWORD)
    await page.getByRole('heading', { name: 'Public page' }).waitFor()
    await settle(page)
    const control = page.getByLabel('Show a page with the public videos to everyone')
    expect(await control.isChecked()).toBe(true)
    await checkState(page, 'console-public-page')
    await control.click({ force: true })
    await page.getByText('Saved').first().waitFor()
    expect((await read()).status).toBe(404)
    await control.click({ force: true })
    await page.getByRole('link', { name: `${platform.url}${path}` }).waitFor()
    expect((await read()).status).toBe(200)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.goto(`${platform.url}/console/organisation`)
    await signIn(page, 'ada@example.org', PASSWORD)
    await page.getByRole('link', { name: `${platform.url}${path}` }).waitFor()
    expect(await page.getByLabel('Show a page with the public videos to everyone').count()).toBe(0)
  }, 90_000)
})
