import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { startThirdPartySite, type ThirdPartySite } from './support/third-party-site.ts'
import { createTenant, type Tenant, upload, waitUntilSettled } from './support/video-steps.ts'

const browserFile = browserPath()
const SCREENSHOTS = process.env['VITASCOPE_SCREENSHOTS']
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const GUIDE = join(import.meta.dirname, '../docs/guides/embed-the-player.md')
const run = promisify(execFile)

/** Properties of a `<video>`. */
interface MediaElement {
  currentTime: number
  paused: boolean
  muted: boolean
}

const TITLE = 'Launch & <b>landing</b>'
const FACADES = 20
const GRID = `<style>
  :root { color-scheme: light dark; }
  body { max-width: 1240px; margin: 0 auto; padding: 1.5rem 1rem; font: 16px/1.5 system-ui; }
  main { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: 1.25rem; }
</style><header><h1>Latest videos</h1></header>`

describeInBrowser('façades on a page of another origin', () => {
  let folder: string
  let platform: TestPlatform
  let sources: SourceServer
  let site: ThirdPartySite
  let tenant: Tenant
  let browser: Browser
  /** Ids of 20 videos of one media. */
  let ids: string[]
  let protectedId: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sources-'))
    sources = await startSourceServer(folder)
    site = await startThirdPartySite()
    await makeSource(folder, 'good.mp4')
    await makeSource(folder, 'other.mp4')
    platform = await startTestPlatform()
    tenant = await createTenant(platform.system)
    const first = (await upload(api(), tenant.organisationId, `${sources.url}/good.mp4`, { name: TITLE })).id
    protectedId = (await upload(api(), tenant.organisationId, `${sources.url}/other.mp4`, { name: 'Board meeting' })).id
    const { media_id: mediaId, status } = await waitUntilSettled(api(), first)
    expect(status.status).toBe('ok')
    await waitUntilSettled(api(), protectedId)
    expect((await api().patch(`/video/${protectedId}`, { security: { token_required_platform: true } })).status).toBe(200)
    ids = [first]
    while (ids.length < FACADES) ids.push((await api().post<{ video_id: string }>(`/media/${mediaId}/publish`, {})).body.video_id)
    // Without the switch of the other tests, which lets pages play sound without a click.
    const switches = browserArguments.filter((argument) => !argument.startsWith('--autoplay-policy'))
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: switches })
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.remove()
    await site?.close()
    await sources?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const api = () => platform.withKey(tenant.key)
  /** Returns a policy that allows scripts, frames and images of the platform only, no styles, and no HTML from strings. */
  const strictPolicy = () =>
    `default-src 'none'; script-src ${platform.url}; frame-src ${platform.url}; img-src ${platform.url}; require-trusted-types-for 'script'; trusted-types 'none'`
  const script = () => `<script async src="${platform.url}/player/embed.js"></script>`
  const facade = (id: string, title = `Video ${id.slice(0, 4)}`) => `<div data-vitascope-video="${id}" data-title="${title}"></div>`
  const open = async (path: string, viewport = { width: 1000, height: 800 }) => {
    const page = await (await browser.newContext({ viewport })).newPage()
    const pageErrors: string[] = []
    page.on('console', (message) => message.type() === 'error' && pageErrors.push(`${message.text()} ${message.location().url}`))
    page.on('pageerror', (error) => pageErrors.push(error.message))
    const requestedPaths: string[] = []
    page.on('request', (request) => request.url().startsWith(platform.url) && requestedPaths.push(new URL(request.url()).pathname))
    await page.goto(site.url + path)
    return { page, pageErrors, requestedPaths }
  }
  const screenshot = async (page: Page, name: string) => {
    if (SCREENSHOTS === undefined) return
    await mkdir(SCREENSHOTS, { recursive: true })
    await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), animations: 'disabled' })
  }
  const countPosters = (page: Page) => page.locator('[data-vitascope-video] img.shown').count()
  const scrollThrough = async (page: Page) => {
    for (const element of await page.locator('[data-vitascope-video]').all()) await element.scrollIntoViewIfNeeded()
  }
  const waitForPosters = (page: Page, count: number) =>
    waitFor(async () => (await countPosters(page)) === count, { timeout: 20_000, describe: `${count} posters` })
  const waitForPlayback = (page: Page, nth = 0) => {
    const video = page.frameLocator(`div[data-vitascope-video] iframe >> nth=${nth}`).locator('video')
    return waitFor(() => video.evaluate((element: MediaElement) => element.currentTime > 0.5 && !element.paused && !element.muted), {
      timeout: 30_000,
      describe: 'playback with sound',
    })
  }

  test('20 façades load their posters only, and a click plays one video with sound', async () => {
    site.serve('/twenty', `<h1>News</h1>${ids.map((id) => facade(id)).join('')}${script()}`, strictPolicy())
    const { page, pageErrors, requestedPaths } = await open('/twenty')
    await page
      .getByRole('button')
      .first()
      .waitFor({ timeout: extendTimeout(20_000) })
    // Posters far below the visible area are not loaded.
    await waitFor(async () => (await countPosters(page)) >= 2, { timeout: 20_000, describe: 'visible posters' })
    expect(await countPosters(page)).toBeLessThan(FACADES)
    await scrollThrough(page)
    await waitForPosters(page, FACADES)
    const files = requestedPaths.map((path) => path.replace(/\/\d+\//, '/ID/').replace(/(?<=\/delivery\/ID\/)\w+/, 'VERSION'))
    const count = (file: string) => files.filter((path) => path === file).length
    expect([...new Set(files)].sort()).toEqual(['/delivery/ID/VERSION/images/poster.jpg', '/player/ID/poster.jpg', '/player/embed.js'])
    expect([count('/player/embed.js'), count('/player/ID/poster.jpg'), count('/delivery/ID/VERSION/images/poster.jpg')]).toEqual([
      1, 20, 20,
    ])
    expect(await page.locator('iframe').count()).toBe(0)

    await page.getByRole('button').nth(1).click()
    await waitForPlayback(page)
    await screenshot(page, 'facade-playing')
    expect(await page.locator('iframe').count()).toBe(1)
    expect(await page.locator('iframe').getAttribute('title')).toBe(`Video ${ids[1]?.slice(0, 4)}`)
    expect(await page.getByRole('button').count()).toBe(FACADES - 1)
    expect(pageErrors).toEqual([])
    await page.context().close()
  }, 120_000)

  test.each(['Enter', 'Space'])(
    'the key %s plays a video, and the next keys control its player',
    async (key) => {
      const path = `/keys-${key}`
      site.serve(path, `<a href="#x">First</a>${facade(`${ids[0]}`, 'Launch &amp; &lt;b&gt;landing&lt;/b&gt;')}${script()}`, strictPolicy())
      const { page, pageErrors } = await open(path)
      const button = page.getByRole('button', { name: `Play video: ${TITLE}`, exact: true })
      await button.waitFor({ timeout: extendTimeout(20_000) })
      expect(await button.textContent()).toBe(TITLE)
      await page.keyboard.press('Tab')
      await page.keyboard.press('Tab')
      expect(await button.evaluate((element) => element.matches(':focus-visible'))).toBe(true)
      await page.keyboard.press(key)
      await waitForPlayback(page)
      await page.keyboard.press('k')
      const video = page.frameLocator('iframe').locator('video')
      await waitFor(() => video.evaluate((element: MediaElement) => element.paused), {
        timeout: 10_000,
        describe: 'the video to pause',
      })
      expect(pageErrors).toEqual([])
      await page.context().close()
    },
    90_000,
  )

  test.each(['light', 'dark'] as const)(
    'axe finds no violation on a %s page with façades and a player',
    async (colorScheme) => {
      const content = `<main>${ids
        .slice(0, 3)
        .map((id) => `<section>${facade(id)}</section>`)
        .join('')}</main>${script()}`
      site.serve(`/axe-${colorScheme}`, GRID + content)
      const { page } = await open(`/axe-${colorScheme}`, { width: 390, height: 844 })
      await page.emulateMedia({ colorScheme })
      await waitForPosters(page, 3)
      await page.getByRole('button').first().click()
      await waitForPlayback(page)
      await page.evaluate(axe.source)
      const violations = await page.evaluate(`axe.run().then(({ violations }) =>
      violations.map(({ id, nodes }) => ({ id, targets: nodes.map(({ target }) => target) })))`)
      expect(violations).toEqual([])
      await page.context().close()
    },
    90_000,
  )

  test('a façade keeps its size when the player replaces the poster', async () => {
    site.serve('/size', `${GRID}<main><section>${facade(`${ids[0]}`)}</section></main>${script()}`)
    const { page } = await open('/size', { width: 390, height: 844 })
    const element = page.locator('[data-vitascope-video]')
    await page.getByRole('button').waitFor({ timeout: extendTimeout(20_000) })
    const before = await element.boundingBox()
    expect([before?.width, Math.round((before?.height ?? 0) * 100)]).toEqual([358, Math.round((358 * 9 * 100) / 16)])
    await page.getByRole('button').click()
    await waitForPlayback(page)
    expect([await element.boundingBox(), await page.locator('iframe').boundingBox()]).toEqual([before, before])
    await page.context().close()
  }, 90_000)

  test('façades that a page adds later, and codes that repeat the script, work', async () => {
    const { body } = await platform.guest.get<[string]>(`/embed/${ids[0]}/facade?width=640`)
    site.serve('/later', `<section>${body[0]}${body[0]}</section>`, strictPolicy())
    const { page, pageErrors, requestedPaths } = await open('/later')
    await waitForPosters(page, 2)
    expect(await page.locator('section > div').first().boundingBox()).toMatchObject({ width: 640, height: 360 })
    await page.evaluate(`{
      const facade = document.createElement('div')
      facade.dataset.vitascopeVideo = '${ids[1]}'
      document.querySelector('section').appendChild(document.createElement('p')).append(facade)
    }`)
    await page.getByRole('button', { name: 'Play video', exact: true }).click()
    await waitForPlayback(page)
    expect(requestedPaths.filter((path) => path === '/player/embed.js')).toHaveLength(1)
    expect(pageErrors).toEqual([])
    await page.context().close()
  }, 90_000)

  test('a protected video has a façade without a poster, and plays with its token', async () => {
    const { body } = await api().post<{ token: string }>(`/video/${protectedId}/token`, { expires_in: 600 })
    const element = `<div data-vitascope-video="${protectedId}" data-title="Board meeting" data-token="${body.token}"></div>`
    site.serve('/protected', `${element}${script()}`, strictPolicy())
    const { page } = await open('/protected')
    const button = page.getByRole('button', { name: 'Play video: Board meeting' })
    await button.waitFor({ timeout: extendTimeout(20_000) })
    await waitFor(async () => (await page.locator('img').count()) === 0, { timeout: 20_000, describe: 'the poster to be removed' })
    await button.click()
    await waitForPlayback(page)
    await page.context().close()
  }, 90_000)

  test('where scripts do not run, the element is a link to the player', async () => {
    const { body } = await platform.guest.get<[string]>(`/embed/${ids[0]}/facade`)
    site.serve('/no-script', `${body[0]}`, `default-src 'none'`)
    const { page } = await open('/no-script')
    expect(await page.getByRole('link', { name: TITLE }).getAttribute('href')).toBe(`${platform.url}/player/${ids[0]}`)
    await page.context().close()
  }, 30_000)

  test('the player page of a public video shows no violation of its policy by its VideoObject', async () => {
    const page = await browser.newPage()
    const messages: string[] = []
    page.on('console', (message) => messages.push(message.text()))
    await page.goto(`${platform.url}/player/${ids[0]}`)
    await page.locator('.start').waitFor({ timeout: extendTimeout(20_000) })
    const json = await page.locator('script[type="application/ld+json"]').textContent()
    const { body } = await platform.guest.get<{ uri: { hls: string; poster_frame: string } }>(`/video/${ids[0]}`)
    expect(JSON.parse(json ?? '')).toMatchObject({
      ...{ '@type': 'VideoObject', name: TITLE, duration: 'PT12S', embedUrl: `${platform.url}/player/${ids[0]}` },
      ...{ contentUrl: body.uri.hls, thumbnailUrl: [body.uri.poster_frame, expect.stringContaining('/thumbnail')] },
    })
    expect(messages).toEqual([])
    await page.close()
  }, 60_000)

  test('a discovery link leads to a document whose embed code plays, and whose thumbnail has the stated size', async () => {
    const page = await browser.newPage()
    await page.goto(`${platform.url}/player/${ids[0]}`)
    const href = (await page.locator('link[type="application/json+oembed"]').getAttribute('href')) ?? ''
    await page.close()
    const fetchDocument = async (query: string) => (await (await fetch(href + query)).json()) as Record<string, string | number>
    const [small, full] = [await fetchDocument('&maxwidth=480'), await fetchDocument('')]
    expect(small).toMatchObject({ title: TITLE, width: 480, height: 270, thumbnail_width: 426, thumbnail_height: 240 })
    const images = [small, full].map(({ thumbnail_url: url }) => `<img src="${url}">`).join('')
    site.serve('/oembed', `${GRID}${small['html']}<p>${images}</p>`)
    const opened = await open('/oembed')
    expect(await opened.page.locator('iframe').boundingBox()).toMatchObject({ width: 480, height: 270 })
    const sizes = () =>
      opened.page
        .locator('img')
        .evaluateAll((elements: { naturalWidth: number; naturalHeight: number }[]) =>
          elements.map(({ naturalWidth, naturalHeight }) => [naturalWidth, naturalHeight]),
        )
    await waitFor(async () => (await sizes()).every(([width]) => width !== 0), { timeout: 20_000, describe: 'the thumbnails' })
    expect(await sizes()).toEqual([small, full].map((one) => [one['thumbnail_width'], one['thumbnail_height']]))
    await opened.page
      .frameLocator('iframe')
      .locator('.start')
      .click({ timeout: extendTimeout(20_000) })
    const video = opened.page.frameLocator('iframe').locator('video')
    await waitFor(() => video.evaluate((element: MediaElement) => element.currentTime > 0.5), {
      timeout: 30_000,
      describe: 'playback',
    })
    await opened.page.context().close()
    expect((await fetch(href.replace(`${ids[0]}`, protectedId))).status).toBe(401)
    await api().patch(`/video/${ids[19]}`, { visibility: 'private' })
    expect((await fetch(href.replace(`${ids[0]}`, `${ids[19]}`))).status).toBe(404)
    await api().patch(`/video/${ids[19]}`, { visibility: 'public' })
  }, 90_000)

  test('the snippets of the guide work', async () => {
    const guide = await readFile(GUIDE, 'utf8')
    const blocks = (language: string) =>
      [...guide.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, block = '']) =>
        block.replaceAll('https://video.example.org', platform.url).replaceAll('4611686018427387904', `${ids[0]}`),
      )
    const env = { ...process.env, KEY: tenant.key, API: `${platform.url}/v2`, VIDEO: ids[0] }
    const runShell = async (code: string) => JSON.parse((await run('bash', ['-c', `set -euo pipefail\n${code}`], { env })).stdout)
    const [iframe = '', responsive = '', oembed = '', ...others] = blocks('sh')
    expect(others).toEqual([])
    expect((await runShell(iframe))[0]).toMatch(/^<iframe src="[^"]+\/player\/\d+" title="Launch/)
    const [responsiveCode] = await runShell(responsive)
    const [documented = ''] = blocks('html')
    const attributes = (html: string) =>
      [...html.matchAll(/\s([a-z]+)(?=[=\s>])/g)].map(([, name]) => name).filter((name) => name !== 'day')
    expect(new Set(attributes(documented.replaceAll(/"[^"]*"/g, '""')))).toEqual(
      new Set(attributes(`${responsiveCode}`.replaceAll(/"[^"]*"/g, '""'))),
    )
    const [sample = '{}'] = blocks('json')
    expect(Object.keys(await runShell(oembed))).toEqual(Object.keys(JSON.parse(sample)))
    // The policy that the guide names.
    site.serve('/guide', blocks('html').join(''), strictPolicy().replace("'none';", "'none'; style-src-attr 'unsafe-inline';"))
    const { page, pageErrors } = await open('/guide')
    await page
      .frameLocator('body > iframe')
      .locator('.start')
      .waitFor({ timeout: extendTimeout(20_000) })
    const box = await page.locator('body > iframe').boundingBox()
    expect(Math.round(((box?.width ?? 0) / (box?.height ?? 1)) * 100)).toBe(178)
    await page.getByRole('button', { name: 'Play video: Launch day' }).click()
    await waitForPlayback(page)
    expect(pageErrors).toEqual([])
    await page.context().close()
  }, 120_000)

  test.each([
    [390, 'light'],
    [390, 'dark'],
    [1440, 'light'],
    [1440, 'dark'],
  ] as const)(
    'façades at %i px with the %s colour scheme have no overflow',
    async (width, colorScheme) => {
      const titles = ['Launch day', 'How a very long title of a video is cut after two lines so that it does not cover the picture', 'Tour']
      const facades = ids.map((id, index) => facade(index === 3 ? protectedId : id, titles[index % 3])).join('')
      site.serve('/grid', `${GRID}<main>${facades}</main>${script()}`)
      const { page } = await open('/grid', { width, height: 900 })
      await page.emulateMedia({ colorScheme })
      await page
        .getByRole('button')
        .first()
        .waitFor({ timeout: extendTimeout(20_000) })
      await scrollThrough(page)
      await waitForPosters(page, FACADES - 1)
      expect(await page.locator('html').evaluate((root: { scrollWidth: number }) => root.scrollWidth)).toBe(width)
      if (SCREENSHOTS !== undefined) {
        await mkdir(SCREENSHOTS, { recursive: true })
        await page.locator('h1').scrollIntoViewIfNeeded()
        await page.getByRole('button').nth(1).focus()
        await page.keyboard.press('Shift+Tab')
        await page.screenshot({ path: join(SCREENSHOTS, `facades-${width}-${colorScheme}.png`), animations: 'disabled' })
      }
      await page.context().close()
    },
    60_000,
  )
})
