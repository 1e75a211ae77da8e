import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserPath, waitFor } from '@vitascope/testing'
import type { Page } from 'playwright-core'
import { type PlayerFixture, startPlayerFixture } from './player-fixture.ts'

const describeInBrowser = browserPath() === undefined ? describe.skip : describe

interface Host {
  events: { event: string; reason?: string; state?: { title: string; videoId: string } }[]
  player: { ready: Promise<unknown>; state?: { title: string } } & Record<
    string,
    (...values: unknown[]) => Promise<{ currentTime: number }>
  >
}

describeInBrowser('the embed API', () => {
  let fixture: PlayerFixture
  beforeAll(async () => {
    fixture = await startPlayerFixture()
    const { platform, video } = fixture
    platform.setRecord('v', video())
    for (const id of ['other', 'closed', 'locked', 'form']) platform.setHead(id, '<meta name="vitascope:shows" content="video">')
    platform.setRecord('other', video({ video_title: 'Other' }))
    platform.setRecord('closed', video({ video_title: 'Closed', player_settings: { javascript_api_allowed_domains: 'www.example.org' } }))
    platform.setRecord('locked', video({ player_settings: { password_protected: '1' } }))
    platform.setRecord('form', video({ contact_form: { contact_form_id: '5', primary_text: 'Who are you?', gated: '1' } }))
    // The page of a private video has no facts.
    platform.setRecord('private', {}, 404)
    platform.setRecord('private?player_settings=true&token=to.ken', video({ video_title: 'Private' }))
  }, 60_000)
  afterAll(() => fixture?.stop())

  const frame = (id: string) =>
    `<iframe id="f" width="640" height="360" allow="autoplay" src="${fixture.platform.url}/player/${id}?muted=1"></iframe>`
  /**
   * Opens a page that embeds the player. Its host `localhost` is another site for the browser than
   * `127.0.0.1`.
   */
  const openHost = async (id: string, prepare: (page: Page) => Promise<unknown> = async () => {}) => {
    const page = await fixture.openPage()
    await prepare(page)
    const script = `import { createPlayer } from '/package/player.js'
      const [player, events] = [createPlayer(document.getElementById('f')), []]
      for (const name of ['ready', 'play', 'timeupdate', 'trackchange', 'refused']) player.on(name, (event) => events.push(event))
      Object.assign(window, { player, events })`
    fixture.platform.addPage(
      '/access',
      `<!doctype html><title>Host</title><link rel="icon" href="data:,">${frame(id)}<script type="module">${script}</script>`,
    )
    await page.goto(`${fixture.platform.url.replace('127.0.0.1', 'localhost')}/access`)
    return page
  }
  const readEvents = (page: Page) => page.evaluate(() => (window as unknown as Host).events)

  test('executes the commands that a page sends as soon as the player is ready', async () => {
    const page = await openHost('v')
    const state = await page.evaluate(async () => {
      const { player } = window as unknown as Host
      await player.ready
      await player['setTrack']?.('captions', '1')
      await player['seek']?.(3)
      return player['play']?.()
    })
    expect(state).toMatchObject({ paused: false, captions: '1' })
    expect(state?.currentTime).toBeGreaterThanOrEqual(3)
  }, 60_000)

  test('executes commands for another video when it is ready, without a wait of the page', async () => {
    const page = await openHost('v')
    const state = await page.evaluate(async () => {
      const { player } = window as unknown as Host
      void player['load']?.('other')
      await player['seek']?.(3)
      return player['play']?.()
    })
    expect(state).toMatchObject({ videoId: 'other', title: 'Other', paused: false })
    expect(state?.currentTime).toBeGreaterThanOrEqual(3)
    expect((await readEvents(page)).filter(({ event }) => event === 'ready').map(({ state }) => state?.videoId)).toEqual(['v', 'other'])
  }, 60_000)

  test('opens a video after one that does not exist, and one with a form', async () => {
    const page = await openHost('nothing')
    const state = await page.evaluate(async () => {
      const { player } = window as unknown as Host
      await player['load']?.('other')
      return player['play']?.()
    })
    expect(state).toMatchObject({ videoId: 'other', paused: false })
    const next = await page.evaluate(async () => {
      const { player } = window as unknown as Host
      await player['load']?.('form')
      return player.ready
    })
    expect(next).toMatchObject({ videoId: 'form', paused: true })
    await page.frameLocator('iframe').getByLabel('Email address').waitFor()
  }, 60_000)

  test('a position that is set before the metadata are loaded does not move another video', async () => {
    const playlist = '**/media/tracks.m3u8*'
    // The request for the playlist of the first video has no response.
    const page = await openHost('v', (opened) => opened.route(playlist, () => {}))
    await page.evaluate(async () => {
      const { player } = window as unknown as Host
      await player.ready
      await player['seek']?.(4)
    })
    await page.unroute(playlist)
    const state = await page.evaluate(async () => {
      const { player } = window as unknown as Host
      await player['load']?.('other')
      return player['play']?.()
    })
    expect(state).toMatchObject({ videoId: 'other', paused: false })
    expect(state?.currentTime).toBeLessThan(3)
  }, 60_000)

  test('opens a private video with its token', async () => {
    const page = await openHost('v')
    const state = await page.evaluate(async () => {
      const { player } = window as unknown as Host
      await player['load']?.('private', { token: 'to.ken' })
      return player['play']?.()
    })
    expect(state).toMatchObject({ videoId: 'private', title: 'Private', paused: false })
  }, 60_000)

  test('changes neither the video nor `ready` after a rejected `load`', async () => {
    const page = await openHost('v')
    const state = await page.evaluate(async () => {
      const { player } = window as unknown as Host
      await player['load']?.('').catch(() => {})
      return player['getState']?.()
    })
    expect(state).toMatchObject({ videoId: 'v' })
  }, 60_000)

  test('ends for a video whose profile does not allow the page: no event has its state', async () => {
    const page = await openHost('v')
    const reason = await page.evaluate(async () => {
      const { player } = window as unknown as Host
      await player['load']?.('closed', { autoplay: true })
      return player.ready.catch((error: { reason: string }) => error.reason)
    })
    expect(reason).toBe('origin')
    // The video plays for the viewer.
    await waitFor(
      () =>
        page
          .frameLocator('iframe')
          .locator('video')
          .evaluate((video: HTMLVideoElement) => video.currentTime > 1),
      {
        timeout: 20_000,
        describe: 'the video to pass 1 s',
      },
    )
    expect((await readEvents(page)).filter(({ state }) => state?.title === 'Closed')).toEqual([])
    expect(await page.evaluate(() => (window as unknown as Host).player.state?.title)).not.toBe('Closed')
  }, 60_000)

  test('rejects `play` while the viewer has to enter a password', async () => {
    const page = await openHost('locked')
    const reason = await page.evaluate(() =>
      (window as unknown as Host).player['play']?.().catch((error: { reason: string }) => error.reason),
    )
    expect(reason).toBe('not_playable')
  }, 60_000)

  test('is refused for a page whose origin is opaque, without an exception', async () => {
    const page = await fixture.openPage()
    const script = `window.received = []
      addEventListener('message', ({ data }) => {
        received.push(data)
        if (data.type === 'available') document.getElementById('f').contentWindow.postMessage({ vitascope: 1, id: 5, command: 'play' }, '*')
      })`
    await page.setContent(`${frame('v')}<script>${script}</script>`)
    const responses = async () => {
      const received = await page.evaluate(() => (window as unknown as { received: { type?: string }[] }).received)
      return received.filter(({ type }) => type === 'event' || type === 'result')
    }
    await waitFor(async () => (await responses()).length >= 2, { timeout: 20_000, describe: 'the responses' })
    expect(await responses()).toEqual([
      { vitascope: 1, type: 'event', event: 'refused', reason: 'origin' },
      { vitascope: 1, type: 'result', id: 5, ok: false, error: 'origin' },
    ])
    expect(fixture.errors).toEqual([])
  }, 60_000)
})
