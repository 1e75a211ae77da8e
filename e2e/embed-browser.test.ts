// Faults: B13, A6
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type FrameLocator, type Page } from 'playwright-core'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { startThirdPartySite, type ThirdPartySite } from './support/third-party-site.ts'
import { createTenant, type Tenant, upload, waitUntilSettled } from './support/video-steps.ts'

const browserFile = browserPath()
const SCREENSHOTS = process.env['VITASCOPE_SCREENSHOTS']
const describeInBrowser = browserFile === undefined ? describe.skip : describe

describeInBrowser('embed codes on a page of another origin', () => {
  let folder: string
  let platform: TestPlatform
  let sources: SourceServer
  let site: ThirdPartySite
  let tenant: Tenant
  let browser: Browser
  let videoId: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sources-'))
    sources = await startSourceServer(folder)
    site = await startThirdPartySite()
    await makeSource(folder, 'small.mp4')
    platform = await startTestPlatform()
    tenant = await createTenant(platform.system)
    videoId = (await upload(api(), tenant.organisationId, `${sources.url}/small.mp4`, { name: 'Launch & <b>landing</b>' })).id
    expect((await waitUntilSettled(api(), videoId)).status.status).toBe('ok')
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
  }, 180_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.remove()
    await site?.close()
    await sources?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const api = () => platform.withKey(tenant.key)
  const fetchEmbedCode = async (path: string) => {
    const { status, body } = await platform.guest.get<[string]>(path)
    if (status !== 200) throw new Error(`${path} returned ${status}: ${JSON.stringify(body)}`)
    return body[0]
  }
  const screenshot = async (page: Page, name: string) => {
    if (SCREENSHOTS === undefined) return
    await mkdir(SCREENSHOTS, { recursive: true })
    await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`) })
  }
  const open = async (path: string) => {
    const page = await browser.newPage({ viewport: { width: 1000, height: 800 } })
    const pageErrors: string[] = []
    page.on('console', (message) => message.type() === 'error' && pageErrors.push(`${message.text()} ${message.location().url}`))
    page.on('pageerror', (error) => pageErrors.push(error.message))
    await page.goto(site.url + path)
    return { page, pageErrors }
  }
  const playIn = async (frame: FrameLocator, seconds = 1) => {
    await frame.locator('.start').click({ timeout: extendTimeout(20_000) })
    await waitFor(async () => (await frame.locator('video').evaluate((video: { currentTime: number }) => video.currentTime)) > seconds, {
      timeout: 30_000,
      describe: `the picture to pass ${seconds} s`,
    })
  }
  const newsHtml = '<style>body { font: 16px/1.5 system-ui; margin: 2rem } h1 { color: #a33 }</style><h1>News of a third party</h1>'

  test('the script works under a Content-Security-Policy that allows the platform only', async () => {
    const code = await fetchEmbedCode(`/embed/${videoId}?width=640&element_id=film`)
    const policy = `default-src 'none'; script-src ${platform.url}; frame-src ${platform.url}`
    site.serve('/js', `<h1>News</h1><p>Before</p><div id="film">It loads …</div><p>After</p>${code}`, policy)
    const { page, pageErrors } = await open('/js')
    const frame = page.locator('#film > iframe')
    await frame.waitFor({ timeout: extendTimeout(20_000) })
    expect(await page.locator('#film').textContent()).toBe('')
    expect(await frame.boundingBox()).toMatchObject({ width: 640, height: 360 })
    expect(await frame.getAttribute('title')).toBe('Launch & <b>landing</b>')
    await playIn(page.frameLocator('#film > iframe'))
    await screenshot(page, 'embed-js')
    expect(pageErrors).toEqual([])
    // The minified script adds no global variable with a short name.
    expect(await page.evaluate(() => Object.keys(globalThis).filter((name) => /^[a-z]{1,2}$/.test(name)))).toEqual([])
    await page.close()
  }, 90_000)

  test('several scripts work in one page, also with target elements that are added later', async () => {
    const [firstCode, secondCode] = [
      await fetchEmbedCode(`/embed/${videoId}?width=50%25`),
      await fetchEmbedCode(`/embed/${videoId}?width=320&element_id=later`),
    ]
    site.serve('/many', `${newsHtml}<section>${firstCode}</section>${secondCode}<div id="later"></div>`)
    const { page, pageErrors } = await open('/many')
    await page.locator('#later > iframe').waitFor({ timeout: extendTimeout(20_000) })
    const [half, small] = [await page.locator('section > iframe').boundingBox(), await page.locator('#later > iframe').boundingBox()]
    expect([half?.width, Math.round(half?.height ?? 0)]).toEqual([468, 263])
    expect([small?.width, small?.height]).toEqual([320, 180])
    await playIn(page.frameLocator('section > iframe'))
    expect(pageErrors).toEqual([])
    await page.close()
  }, 90_000)

  test.each(['js', 'iframe'])(
    'the %s code without a size keeps the aspect ratio on a phone',
    async (type) => {
      site.serve(`/phone-${type}`, `${newsHtml}<div>${await fetchEmbedCode(`/embed/${videoId}/${type}`)}</div>`)
      const { page } = await open(`/phone-${type}`)
      await page.setViewportSize({ width: 390, height: 844 })
      await page.locator('iframe').waitFor({ timeout: extendTimeout(20_000) })
      const box = await page.locator('iframe').boundingBox()
      expect([Math.round(box?.width ?? 0), Math.round(box?.height ?? 0)]).toEqual([326, 183])
      await screenshot(page, `embed-phone-${type}`)
      await page.close()
    },
    60_000,
  )

  test('the frame plays and equals the one that the script creates', async () => {
    site.serve('/iframe', `${newsHtml}<p>${await fetchEmbedCode(`/embed/${videoId}/iframe?width=640`)}</p>`)
    const { page, pageErrors } = await open('/iframe')
    await playIn(page.frameLocator('iframe'))
    await screenshot(page, 'embed-iframe')
    expect(pageErrors).toEqual([])
    const attributes = async (path: string) => {
      const opened = await open(path)
      const frame = opened.page.locator('iframe').first()
      await frame.waitFor({ timeout: extendTimeout(20_000) })
      const names = ['src', 'title', 'sandbox', 'allow', 'allowfullscreen', 'loading']
      const values = await Promise.all(names.map((name) => frame.getAttribute(name)))
      await opened.page.close()
      return values
    }
    site.serve('/same', await fetchEmbedCode(`/embed/${videoId}/js?width=640`))
    expect(await attributes('/same')).toEqual(await attributes('/iframe'))
    await page.close()
  }, 90_000)

  test('a protected video plays with the token of its embed code only', async () => {
    const { id } = await upload(api(), tenant.organisationId, `${sources.url}/small.mp4`)
    await waitUntilSettled(api(), id)
    expect((await api().patch(`/video/${id}`, { security: { token_required_platform: true } })).status).toBe(200)
    const { body } = await api().post<{ token: string }>(`/video/${id}/token`, { expires_in: 600 })
    site.serve('/token', await fetchEmbedCode(`/embed/${id}/iframe?token=${body.token}`))
    const { page } = await open('/token')
    await playIn(page.frameLocator('iframe'))
    site.serve('/bare', await fetchEmbedCode(`/embed/${id}`))
    await page.goto(`${site.url}/bare`)
    await page
      .frameLocator('iframe')
      .getByText(/personal link/)
      .waitFor({ timeout: extendTimeout(20_000) })
    await page.close()
  }, 150_000)

  test('a setting requires a password, autoplays and allows downloads; overlay code is never executed', async () => {
    const password = createHash('sha1').update('open sesame').digest('hex')
    const fields = { title: 'Locked', password, is_auto_play: 1, allow_download: 1, allow_sharing: 1, show_title_bar: 1 }
    const setting = await api().post<{ message: { created: string } }>(`/setting/${tenant.organisationId}`, fields)
    const record = await api().get<{ media_id: string }>(`/video/${videoId}`)
    const publish = await api().post<{ video_id: string }>(`/media/${record.body.media_id}/publish`, {})
    const id = publish.body.video_id
    expect((await api().patch(`/video/${id}`, { setting_id: setting.body.message.created })).status).toBe(200)
    const theme = await api().post<{ message: { created: string } }>(`/theme/${tenant.organisationId}`, { control_bar_colour: '#551111' })
    await api().patch(`/video/${id}`, { theme_id: theme.body.message.created })
    const evil = 'window.evil = 1; top.postMessage("evil", "*"); alert(1)'
    const overlay = await api().post<{ overlay_id: string }>('/overlay', {
      associated_with_media_id: record.body.media_id,
      title: 'To the <b>shop</b>',
      show: { at_end: 0, during: { start: '00:00', end: '00:59' } },
      link_text: 'Shop',
      link_url: 'https://shop.example/',
      link_javascript_code: evil,
    })
    expect(overlay.status).toBe(201)

    site.serve('/locked', newsHtml + (await fetchEmbedCode(`/embed/${id}`)))
    const { page, pageErrors } = await open('/locked')
    const dialogs: string[] = []
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message())
      void dialog.dismiss()
    })
    const frame = page.frameLocator('iframe')
    await frame.getByLabel('Password').fill('wrong')
    await frame.getByLabel('Password').press('Enter')
    await frame.getByText('Wrong password').waitFor({ timeout: extendTimeout(20_000) })
    await screenshot(page, 'embed-password')
    await frame.getByLabel('Password').fill('open sesame')
    await frame.getByRole('button', { name: 'Open' }).click()
    await waitFor(async () => (await frame.locator('video').evaluate((video: { currentTime: number }) => video.currentTime)) > 1, {
      timeout: 30_000,
      describe: 'the picture to pass 1 s',
    })
    await screenshot(page, 'embed-overlay')
    expect(await frame.locator('.frame').getAttribute('style')).toContain('--bar: #551111')
    expect(await frame.locator('.overlay h2').textContent()).toBe('To the <b>shop</b>')
    expect(await frame.getByRole('link', { name: 'Download' }).getAttribute('href')).toContain(`/delivery/${id}/`)
    const shop = page.context().waitForEvent('page')
    await frame.getByRole('link', { name: 'Shop' }).click()
    await (await shop).close()
    for (const inside of page.frames()) expect(await inside.evaluate(() => 'evil' in globalThis)).toBe(false)
    // Browsers report the rejection of the wrong password.
    expect(pageErrors.filter((line) => !line.endsWith('/access'))).toEqual([])
    expect(dialogs).toEqual([])
    // The stored text is unchanged.
    const stored = await api().get<{ link_javascript_code: string }>(`/overlay/${overlay.body.overlay_id}`)
    expect(JSON.stringify(stored.body)).toContain(JSON.stringify(evil))
    await page.close()
  }, 90_000)

  test('a playlist plays from its embed code', async () => {
    const playlist = await api().post<{ playlist_id: string }>(`/playlist/create/${tenant.organisationId}`, { title: 'All of it' })
    await api().put(`/playlist/${playlist.body.playlist_id}/add/video/${videoId}`)
    site.serve('/list', newsHtml + (await fetchEmbedCode(`/embed/${playlist.body.playlist_id}`)))
    const { page } = await open('/list')
    expect(await page.locator('iframe').getAttribute('title')).toBe('All of it')
    await playIn(page.frameLocator('iframe'))
    await page.close()
    expect(await (await fetch(`${platform.url}/player/${playlist.body.playlist_id}`)).text()).toContain('<title>All of it</title>')
  }, 90_000)

  test('guests get no embed code of disabled and expired videos, and the player shows the message', async () => {
    const record = await api().get<{ media_id: string }>(`/video/${videoId}`)
    const publish = await api().post<{ video_id: string }>(`/media/${record.body.media_id}/publish`, {})
    const id = publish.body.video_id
    expect((await platform.guest.get(`/embed/${id}`)).status).toBe(200)
    await api().patch(`/video/${id}`, { enabled: 0 })
    for (const path of [`/embed/${id}`, `/embed/${id}/iframe`]) {
      expect([(await platform.guest.get(path)).status, (await api().get(path)).status]).toEqual([404, 200])
    }
    const message = 'The <i>sale</i> is over.'
    await api().patch(`/video/${id}`, { enabled: 1, content_expiry: { time: '2020-01-01 00:00:00', message } })
    expect(await platform.guest.get(`/embed/${id}`)).toMatchObject({ status: 404, body: { code: 'video_expired', detail: message } })
    const page = await browser.newPage()
    await page.goto(`${platform.url}/player/${id}`)
    await page.getByText(message).waitFor({ timeout: extendTimeout(20_000) })
    await page.close()
  }, 60_000)

  test('other sites receive the public data of a player page', async () => {
    const fetchHead = async () => (await (await fetch(`${platform.url}/player/${videoId}`)).text()).split('</head>', 1)[0] ?? ''
    const change = { sharing: { text: 'See "this"', embed_within_social: 0 }, description_private: 'internal note' }
    await api().patch(`/video/${videoId}`, change)
    const html = await fetchHead()
    const guestRecord = JSON.stringify((await platform.guest.get(`/video/${videoId}`)).body)
    for (const text of [html, guestRecord]) expect(text).not.toContain('internal note')
    expect(html).toContain('<title>Launch &amp; &lt;b&gt;landing&lt;/b&gt;</title>')
    expect(html).toContain('<meta property="og:title" content="Launch &amp; &lt;b&gt;landing&lt;/b&gt;" />')
    expect(html).toContain('<meta property="og:description" content="See &quot;this&quot;" />')
    expect(html).toMatch(/<meta property="og:image" content="http:[^"]+poster[^"]*" \/>/)
    expect(html).not.toContain('og:video')
    await api().patch(`/video/${videoId}`, { sharing: { embed_within_social: 1 } })
    expect(await fetchHead()).toContain(`<meta name="twitter:player" content="${platform.url}/player/${videoId}" />`)
    await api().patch(`/video/${videoId}`, { security: { allowed_ips: ['127.0.0.0/8'] } })
    expect(await fetchHead()).not.toContain('og:image')
    await api().patch(`/video/${videoId}`, { enabled: 0, security: { allowed_ips: [] } })
    expect(await fetchHead()).not.toMatch(/Launch|og:/)
    await api().patch(`/video/${videoId}`, { enabled: 1 })
  }, 60_000)
})
