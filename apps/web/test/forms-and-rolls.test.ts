import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserPath, extendTimeout, waitFor, waitForMenu } from '@vitascope/testing'
import { type PlayerFixture, readVideo, startPlayerFixture } from './player-fixture.ts'

const describeInBrowser = browserPath() === undefined ? describe.skip : describe

/** Tests contact forms, and the videos that play before and after a video (rolls). */
describeInBrowser('the player', () => {
  let fixture: PlayerFixture
  beforeAll(async () => {
    fixture = await startPlayerFixture()
    const { platform, video } = fixture
    const form = {
      contact_form_id: '5',
      primary_text: 'Who are <b>you</b>?',
      button_text: 'Go on',
      capture_names: '1',
      capture_opt_in: '1',
    }
    platform.setRecord('gated', video({ contact_form: { ...form, gated: '1' } }))
    platform.setRecord('optional', video({ contact_form: { ...form, contact_form_id: '6', gated: '0' } }))
    const mp4 = { hls: '', http: { h264_500: `${platform.url}/media/whole.mp4` } }
    for (const id of ['first', 'second', 'after']) platform.setRecord(id, video({ video_title: id, uri: mp4 }))
    const rolls = JSON.stringify({ pre: ['first', 'gone', 'second'], post: ['after'], show_timer: true })
    platform.setRecord('rolled', video({ player_settings: { rolls } }))
  }, 60_000)
  afterAll(() => fixture?.stop())

  test('shows a required contact form, names missing and rejected fields, and plays after it is submitted', async () => {
    const page = await fixture.openPage()
    const bodies: string[] = []
    let status = 400
    await page.route('**/v2/contact-form/**', async (route) => {
      bodies.push(route.request().postData() ?? '')
      await route.fulfill({ status, contentType: 'application/json', body: JSON.stringify({ detail: 'email: is wrong' }) })
    })
    await page.goto(`${fixture.platform.url}/player/gated?muted=1`)
    await page.getByText('Who are <b>you</b>?').waitFor()
    expect(await page.getByRole('button', { name: 'Skip' }).count()).toBe(0)
    const send = page.getByRole('button', { name: 'Go on' })
    await send.click()
    await page.getByText('Please fill in: Email address.').waitFor()
    await page.getByLabel('Email address').fill('ada@example.org')
    await page.getByLabel('Name').fill('Ada')
    await page.getByLabel('I agree to be contacted.').check()
    await page.keyboard.press('Tab')
    await send.click()
    await page.getByText('Please correct your data. email: is wrong').waitFor()
    expect(bodies.map((body) => JSON.parse(body))).toEqual([{ email: 'ada@example.org', video_id: 'gated', name: 'Ada', opt_in: 1 }])
    // Guests cannot name a private video. The form is submitted without it.
    status = 404
    await page.unroute('**/v2/contact-form/**')
    await page.route('**/v2/contact-form/**', async (route) => {
      const body = JSON.parse(route.request().postData() ?? '') as { video_id?: string }
      bodies.push(JSON.stringify(body))
      const problem = JSON.stringify({ code: 'video_not_found' })
      await route.fulfill(body.video_id === undefined ? { status: 201, body: '{}' } : { status, body: problem })
    })
    await page.getByLabel('Name').press('Enter')
    await waitFor(() => readVideo(page, (video) => !video.paused && video.currentTime > 0.1), { timeout: 20_000, describe: 'playback' })
    expect(bodies.slice(1).map((body) => JSON.parse(body).video_id)).toEqual(['gated', undefined])
    await page.reload()
    await waitForMenu(page, 'captions')
    expect(await page.locator('.contact').count()).toBe(0)
    expect(fixture.errors.filter((error) => !/40[04]/.test(error))).toEqual([])
  }, 60_000)

  test('lets the viewer skip a form that is not required', async () => {
    const page = await fixture.openPage()
    await page.goto(`${fixture.platform.url}/player/optional?muted=1`)
    await page.getByRole('button', { name: 'Skip' }).click()
    await waitFor(() => readVideo(page, (video) => !video.paused && video.currentTime > 0.1), { timeout: 20_000, describe: 'playback' })
  }, 60_000)

  test('plays the videos before and after a video, without those that are missing, and cannot seek in them', async () => {
    const page = await fixture.openPage()
    const sources: string[] = []
    page.on('request', (request) => {
      const { pathname } = new URL(request.url())
      const id = /^\/v2\/video\/(\w+)$/.exec(pathname)?.[1]
      if (id) sources.push(id)
    })
    await page.goto(`${fixture.platform.url}/player/rolled?muted=1`)
    await page.locator('.start').click()
    const jumpToEnd = () =>
      readVideo(page, (video) => {
        video.currentTime = video.duration - 0.3
      })
    const waitForRoll = (kind: string | null, words: RegExp) =>
      waitFor(
        async () =>
          (await page.locator('.frame').getAttribute('data-roll')) === kind &&
          words.test((await page.locator('.badge').textContent()) ?? ''),
        { timeout: 20_000, describe: `${kind}: ${words}` },
      )
    await waitForRoll('pre', /^The video starts in [56] s$/)
    await readVideo(page, (video) => {
      Object.assign(video, { seeks: 0 }).addEventListener('seeking', () => Object.assign(video, { seeks: 1 }))
    })
    await page.keyboard.press('9')
    await page.keyboard.press('ArrowRight')
    expect(await readVideo(page, (video) => Number(Reflect.get(video, 'seeks')))).toBe(0)
    expect(await page.locator('.seek').isVisible()).toBe(false)
    await jumpToEnd()
    await waitFor(() => sources.includes('second'), { timeout: 20_000, describe: 'the second video' })
    await waitForRoll('pre', /^The video starts in [56] s$/)
    await jumpToEnd()
    await waitForRoll(null, /^$/)
    await waitFor(() => readVideo(page, (video) => !video.paused && video.currentTime > 0.1 && video.duration > 5), {
      timeout: 20_000,
      describe: 'the video',
    })
    await jumpToEnd()
    await waitForRoll('post', /^Ends in [56] s$/)
    await jumpToEnd()
    await waitForRoll(null, /^$/)
    expect(sources).toEqual(['rolled', 'first', 'gone', 'second', 'after'])
    await page.locator('.start').waitFor({ timeout: extendTimeout(20_000) })
  }, 90_000)
})
