import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import type { Page } from 'playwright-core'
import { type PlayerFixture, startPlayerFixture } from './player-fixture.ts'

const describeInBrowser = browserPath() === undefined ? describe.skip : describe
const NONCE = 'b3f1'

/** Functions of the host page. */
interface Host {
  events: { event: string; reason?: string; message?: string }[]
  player: Record<string, (...values: unknown[]) => Promise<Record<string, unknown>>>
}

test('the package for pages has less than 3 kB with gzip', () => {
  expect(gzipSync(readFileSync(join(import.meta.dirname, '../../../packages/player/dist/player.js')), { level: 9 }).length).toBeLessThan(
    3_000,
  )
})

describeInBrowser('a page of another origin with a strict policy', () => {
  let fixture: PlayerFixture
  let page: Page
  beforeAll(async () => {
    fixture = await startPlayerFixture()
    const { platform, video } = fixture
    const chapters = ['First', 'Second'].map((title, index) => ({ title, start: 3 * index }))
    platform.setRecord('v', video({ chapters }))
    platform.setHead('other', '<meta name="vitascope:shows" content="video">')
    platform.setHead('denied', '<meta name="vitascope:shows" content="none"><meta name="vitascope:denied" content="Not on this page.">')
    platform.setRecord('denied', video({ video_title: 'Denied' }))
    platform.setRecord('other', video({ video_title: 'Other' }))
    platform.setRecord('closed', video({ player_settings: { javascript_api_allowed_domains: 'www.example.org' } }))
    platform.setRecord('off', video({ player_settings: { use_javascript_api: '0' } }))
    platform.setRecord('broken', { video_title: 'Broken', status: { status: 'failed', progress: 0, code: 4001 } })
  }, 60_000)
  afterAll(() => fixture?.stop())

  /** Another host name of the same machine is another site for the browser. */
  const otherOrigin = () => fixture.platform.url.replace('127.0.0.1', 'localhost')
  const policy = () =>
    `default-src 'none'; script-src 'nonce-${NONCE}' ${otherOrigin()}; frame-src ${fixture.platform.url}; style-src 'none'; base-uri 'none'`
  const openHost = async (body: string, script: string) => {
    page = await fixture.openPage()
    fixture.platform.addPage(
      '/host',
      `<!doctype html><title>Host</title><meta http-equiv="Content-Security-Policy" content="${policy()}">${body}<script type="module" nonce="${NONCE}">${script}</script>`,
    )
    await page.goto(`${otherOrigin()}/host`)
  }
  const openPlayer = (id: string, query = '?muted=1') =>
    openHost(
      `<iframe id="f" width="640" height="360" allow="autoplay; fullscreen" src="${fixture.platform.url}/player/${id}${query}"></iframe>`,
      `import { createPlayer } from '/package/player.js'
       const player = createPlayer(document.getElementById('f'))
       const events = []
       for (const name of ['ready', 'play', 'pause', 'timeupdate', 'ended', 'error', 'trackchange', 'chapterchange', 'qualitychange', 'refused']) player.on(name, (event) => events.push({ at: performance.now(), ...event }))
       Object.assign(window, { player, events })`,
    )
  const command = (name: string, ...values: unknown[]) =>
    page.evaluate(
      async ([method, args]) => {
        const { player } = window as unknown as Host
        const start = performance.now()
        try {
          const state = await player[method]?.(...args)
          return { state, ms: performance.now() - start }
        } catch (error) {
          return { reason: (error as { reason: string }).reason, ms: performance.now() - start }
        }
      },
      [name, values] as const,
    )
  const eventNames = () => page.evaluate(() => (window as unknown as Host).events.map(({ event }) => event))
  const waitForEvent = (name: string) => waitFor(async () => (await eventNames()).includes(name), { timeout: 20_000, describe: name })
  /** Waits until the video can be played. */
  const waitForTracks = () =>
    waitFor(async () => ((await command('getState')).state?.['captionTracks'] as unknown[] | undefined)?.length === 3, {
      timeout: 20_000,
      describe: 'the tracks',
    })

  test('controls the player by every command within 100 ms, and receives every event', async () => {
    await openPlayer('v')
    await waitForEvent('ready')
    await waitForTracks()
    const times: number[] = []
    const run = async (name: string, ...values: unknown[]) => {
      const result = await command(name, ...values)
      expect({ name, reason: result.reason }).toEqual({ name, reason: undefined })
      times.push(result.ms)
      return result.state ?? {}
    }
    expect(await run('play')).toMatchObject({ videoId: 'v', title: 'Launch', chapter: 'First' })
    await waitForEvent('timeupdate')
    expect(await run('seek', 4)).toMatchObject({ currentTime: 4 })
    expect(await run('setRate', 1.5)).toMatchObject({ rate: 1.5 })
    expect(await run('setVolume', 0.3, true)).toMatchObject({ volume: 0.3, muted: true })
    expect(await run('setTrack', 'captions', '1')).toMatchObject({ captions: '1' })
    const { qualities } = (await command('getState')).state as { qualities: { id: string; label: string }[] }
    expect(qualities.map(({ label }) => label)).toEqual(['360p', '180p'])
    expect(await run('setTrack', 'quality', qualities[1]?.id)).toMatchObject({ quality: qualities[1]?.id })
    expect(await run('setTrack', 'quality', null)).toMatchObject({ quality: null })
    expect(await run('pause')).toMatchObject({ paused: true })
    await run('seek', 5.9)
    await run('play')
    for (const name of ['play', 'pause', 'ended', 'trackchange', 'chapterchange', 'qualitychange']) await waitForEvent(name)
    expect(await run('setTrack', 'audio', '1')).toMatchObject({ audio: '1' })
    await run('load', 'other', { autoplay: false })
    await waitFor(async () => (await command('getState')).state?.['title'] === 'Other', { timeout: 20_000, describe: 'the other video' })
    const median = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN
    expect(median).toBeLessThan(100)
    const updates = await page.evaluate(() =>
      (window as unknown as { events: { event: string; at: number }[] }).events
        .filter(({ event }) => event === 'timeupdate')
        .map(({ at }) => at),
    )
    for (const [index, at] of updates.entries()) if (index > 0) expect(at - (updates[index - 1] ?? 0)).toBeGreaterThan(200)
    expect(fixture.errors).toEqual([])
  }, 90_000)

  test('cannot load a video whose rules do not allow the page', async () => {
    await openPlayer('v')
    await waitForTracks()
    await command('load', 'denied', { autoplay: true })
    await page
      .frameLocator('iframe')
      .getByText('Not on this page.')
      .waitFor({ timeout: extendTimeout(20_000) })
    expect(fixture.platform.requestedPaths).not.toContain('/v2/video/denied?player_settings=true')
    expect((await command('play')).reason).toBe('not_playable')
  }, 60_000)

  test('gets a reason for commands that are refused, and no exception', async () => {
    await openPlayer('v')
    await waitForTracks()
    for (const [name, values, reason] of [
      ['seek', [-1], 'bad_argument'],
      ['seek', [60], 'bad_argument'],
      ['setRate', [9], 'bad_argument'],
      ['setVolume', ['loud'], 'bad_argument'],
      ['setTrack', ['captions', '9'], 'bad_argument'],
      ['setTrack', ['audio', null], 'bad_argument'],
      ['load', [''], 'bad_argument'],
    ] as const) {
      expect([name, (await command(name, ...values)).reason]).toEqual([name, reason])
    }
    const before = (await eventNames()).length
    await page.evaluate(() => {
      const frame = document.querySelector('iframe')
      const post = (message: unknown) => frame?.contentWindow?.postMessage(message, '*')
      for (const message of ['{', null, 5, { vitascope: 9 }, { vitascope: 1 }, { vitascope: 1, id: 1, command: 'explode' }]) post(message)
      for (let n = 0; n < 2_000; n++) post({ vitascope: 1, id: n, command: 'seek', seconds: 'x' })
    })
    await waitFor(async () => (await eventNames()).length >= before + 2_002, { timeout: 20_000, describe: 'the refusals' })
    expect((await command('getState')).state).toMatchObject({ videoId: 'v' })
    await openPlayer('broken')
    await waitForEvent('error')
    expect((await command('play')).reason).toBe('not_playable')
    expect(fixture.errors).toEqual([])
  }, 60_000)

  test.each(['closed', 'off'])(
    'cannot control a player that does not allow it: %s',
    async (id) => {
      await openPlayer(id)
      await waitForEvent('refused')
      await page
        .frameLocator('iframe')
        .locator('.start')
        .waitFor({ timeout: extendTimeout(20_000) })
      expect(await eventNames()).not.toContain('ready')
      const state = await page.evaluate(() => (window as unknown as { player: { state: unknown } }).player.state)
      expect(state).toBeUndefined()
    },
    60_000,
  )

  test('uses the element like a media element', async () => {
    await openHost(
      `<vitascope-player host="${fixture.platform.url}" video="v" muted></vitascope-player>`,
      `import '/package/element.js'
       const element = document.querySelector('vitascope-player')
       element.addEventListener('ready', () => { window.isReady = true })
       element.addEventListener('timeupdate', () => { window.hasPlayed = true })`,
    )
    await waitFor(() => page.evaluate(() => 'isReady' in window), { timeout: 20_000, describe: 'the player' })
    const element = page.locator('vitascope-player')
    type Media = HTMLElement & { play(): Promise<void>; paused: boolean; currentTime: number; playbackRate: number; duration: number }
    await waitFor(() => element.evaluate((media: Media) => media.duration > 5), { timeout: 20_000, describe: 'the duration' })
    await element.evaluate((media: Media) => media.play())
    await waitFor(() => page.evaluate(() => 'hasPlayed' in window), { timeout: 20_000, describe: 'playback' })
    expect(await element.evaluate((media: Media) => media.paused)).toBe(false)
    await element.evaluate((media: Media) => Object.assign(media, { currentTime: 3, playbackRate: 0.5 }))
    await waitFor(() => element.evaluate((media: Media) => media.currentTime >= 3 && media.playbackRate === 0.5), {
      describe: 'the new state',
    })
    await element.evaluate((media) => media.setAttribute('video', 'other'))
    await waitFor(() => element.evaluate((media) => (media.shadowRoot?.querySelector('iframe')?.src ?? '').includes('/player/other')), {
      describe: 'the other video',
    })
    expect(fixture.errors).toEqual([])
  }, 60_000)

  test('controls the player by the messages of player.js', async () => {
    await openHost(
      `<iframe id="f" width="640" height="360" allow="autoplay" src="${fixture.platform.url}/player/v?muted=1"></iframe>`,
      `const answers = []
       addEventListener('message', ({ data }) => typeof data === 'string' && answers.push(JSON.parse(data)))
       const send = (method, value, listener) => document.getElementById('f').contentWindow.postMessage(JSON.stringify({ context: 'player.js', version: '0.0.11', method, value, listener }), '${fixture.platform.url}')
       Object.assign(window, { answers, send })`,
    )
    type PlayerJs = { answers: { event: string; value?: unknown; listener?: string }[]; send: (...values: unknown[]) => void }
    const answers = () => page.evaluate(() => (window as unknown as PlayerJs).answers)
    const send = (...values: unknown[]) => page.evaluate((args) => (window as unknown as PlayerJs).send(...args), values)
    await waitFor(async () => (await answers()).some(({ event }) => event === 'ready'), { timeout: 20_000, describe: 'ready' })
    await page
      .frameLocator('iframe')
      .locator('[data-menu=quality]')
      .waitFor({ state: 'attached', timeout: extendTimeout(20_000) })
    await send('addEventListener', 'timeupdate', 'l1')
    await send('setVolume', 40)
    await send('play')
    await waitFor(async () => (await answers()).some(({ event, listener }) => event === 'timeupdate' && listener === 'l1'), {
      timeout: 20_000,
      describe: 'timeupdate',
    })
    await send('pause')
    await send('getVolume', undefined, 'l2')
    await send('getPaused', undefined, 'l3')
    await waitFor(async () => (await answers()).some(({ listener }) => listener === 'l3'), { describe: 'the answers' })
    expect((await answers()).filter(({ listener }) => listener === 'l2' || listener === 'l3')).toMatchObject([
      { event: 'getVolume', value: 40 },
      { event: 'getPaused', value: true },
    ])
  }, 60_000)
})
