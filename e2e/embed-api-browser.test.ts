import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserArguments, browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import { type Browser, chromium, type Page } from 'playwright-core'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { startThirdPartySite, type ThirdPartySite } from './support/third-party-site.ts'
import { createTenant, type Tenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const browserFile = browserPath()
const describeInBrowser = browserFile === undefined ? describe.skip : describe
const require = createRequire(import.meta.url)
const root = join(import.meta.dirname, '..')
const EVENTS = 'ready play pause timeupdate ended error trackchange chapterchange qualitychange refused'.split(' ')
const MIN_UPDATE_INTERVAL_MS = 200

interface State {
  videoId: string
  title: string
  paused: boolean
  currentTime: number
  qualities: { id: string }[]
}
interface Host {
  events: { event: string; reason?: string; at: number; state?: State }[]
  answers: { id?: number; ok?: boolean; error?: string; event?: string }[]
  /** The window of the frame. */
  target: { postMessage(data: unknown, origin: string): void }
  player: { ready: Promise<State> } & Record<string, (...values: unknown[]) => Promise<State>>
}

interface Media {
  paused: boolean
  muted: boolean
  duration: number
  currentTime: number
  playbackRate: number
  volume: number
  play(): Promise<void>
  pause(): void
}

describeInBrowser('a page of another origin with a strict Content-Security-Policy', () => {
  let folder: string
  let platform: TestPlatform
  let sources: SourceServer
  let site: ThirdPartySite
  let tenant: Tenant
  let browser: Browser
  let video: VideoRecord
  let otherId: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sources-'))
    sources = await startSourceServer(folder)
    site = await startThirdPartySite()
    for (const name of ['player', 'element']) {
      site.serveScript(`/package/${name}.js`, await readFile(join(root, 'packages/player/dist', `${name}.js`), 'utf8'))
    }
    site.serveScript('/library/player.js', await readFile(require.resolve('player.js'), 'utf8'))
    await makeSource(folder, 'medium.mp4')
    await makeSource(folder, 'small.mp4')
    platform = await startTestPlatform()
    tenant = await createTenant(platform.system)
    const send = (name: string, title: string) => upload(api(), tenant.organisationId, `${sources.url}/${name}`, { name: title })
    const [first, second] = [await send('medium.mp4', 'Launch'), await send('small.mp4', 'Other')]
    video = await waitUntilSettled(api(), first.id)
    const chapters = ['First', 'Second'].map((title, index) => ({ title, start: 6 * index }))
    expect((await api().patch(`/video/${first.id}`, { chapters })).status).toBe(200)
    otherId = (await waitUntilSettled(api(), second.id)).video_id
    const content = 'WEBVTT\n\n00:00.100 --> 00:11.000\nGood evening\n'
    for (const [title, language] of [
      ['English', 'en'],
      ['Deutsch', 'de'],
    ]) {
      expect((await api().post('/caption', { title, language, media_id: video.media_id, content, format: 'vtt' })).status).toBe(200)
    }
    await waitFor(async () => (await (await fetch(video.uri.hls)).text()).includes('NAME="Deutsch"'), {
      timeout: 10_000,
      describe: 'the captions to be in the playlist',
    })
    browser = await chromium.launch({ executablePath: browserFile ?? '', args: [...browserArguments] })
  }, 240_000)
  afterAll(async () => {
    await browser?.close()
    await platform?.remove()
    await site?.close()
    await sources?.close()
    await rm(folder, { recursive: true, force: true })
  })

  const api = () => platform.withKey(tenant.key)
  const policy = () =>
    `default-src 'none'; script-src 'self'; frame-src ${platform.url}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'`
  const frame = (id: string, query = '?muted=1') =>
    `<iframe id="film" width="640" height="360" allow="autoplay; fullscreen" src="${platform.url}/player/${id}${query}"></iframe>`
  const open = async (name: string, body: string, code: string, origin = site.url) => {
    for (const context of browser.contexts()) await context.close()
    const page = await (await browser.newContext()).newPage()
    const errors: string[] = []
    page.on('console', (message) => message.type() === 'error' && errors.push(`${message.text()} ${message.location().url}`))
    page.on('pageerror', (error) => errors.push(error.message))
    site.serveScript(`/${name}.js`, code)
    site.serve(`/${name}`, `${body}<script type="module" src="/${name}.js"></script>`, policy())
    await page.goto(`${origin}/${name}`)
    return { page, errors }
  }
  const hostCode = `
    import { createPlayer } from '/package/player.js'
    const [events, answers, player] = [[], [], createPlayer(document.getElementById('film'))]
    for (const name of ${JSON.stringify(EVENTS)}) player.on(name, (event) => events.push({ at: performance.now(), ...event }))
    addEventListener('message', ({ data }) => answers.push(data))
    Object.assign(window, { events, answers, player, target: document.getElementById('film').contentWindow })`
  const run = (page: Page, name: string, ...values: unknown[]) =>
    page.evaluate(
      async ([method, args]) => {
        const { player } = globalThis as unknown as Host
        await player.ready
        const [state, reason] = await (player[method] ?? (() => Promise.reject()))(...args).then(
          (result) => [result, undefined] as const,
          (error: { reason: string }) => [undefined, error.reason] as const,
        )
        return { state, reason }
      },
      [name, values] as const,
    )
  const readEvents = (page: Page) => page.evaluate(() => (globalThis as unknown as Host).events)
  const waitForEvent = (page: Page, name: string) =>
    waitFor(async () => (await readEvents(page)).some(({ event }) => event === name), { timeout: 30_000, describe: `the event ${name}` })
  const createProfile = async (fields: Record<string, unknown>) => {
    const setting = await api().post<{ message: { created: string } }>(`/setting/${tenant.organisationId}`, { title: 'Pages', ...fields })
    const { body } = await api().post<{ video_id: string }>(`/media/${video.media_id}/publish`, {})
    expect((await api().patch(`/video/${body.video_id}`, { setting_id: setting.body.message.created })).status).toBe(200)
    return body.video_id
  }

  test('gets a result of each command, and every event', async () => {
    const { page, errors } = await open('commands', frame(video.video_id), hostCode)
    const send = async (name: string, ...values: unknown[]) => {
      const { state, reason } = await run(page, name, ...values)
      expect({ name, values, reason }).toEqual({ name, values, reason: undefined })
      return state
    }
    const qualities = (await send('getState'))?.qualities ?? []
    expect(qualities.length).toBeGreaterThan(1)
    expect(await send('setTrack', 'captions', '1')).toMatchObject({ captions: '1' })
    expect(await send('setTrack', 'captions', null)).toMatchObject({ captions: null })
    expect(await send('play')).toMatchObject({ videoId: video.video_id, title: 'Launch', chapter: 'First' })
    await waitForEvent(page, 'timeupdate')
    expect(await send('setRate', 1.5)).toMatchObject({ rate: 1.5 })
    expect(await send('setVolume', 0.3, true)).toMatchObject({ volume: 0.3, muted: true })
    expect(await send('setTrack', 'quality', qualities.at(-1)?.id)).toMatchObject({ quality: qualities.at(-1)?.id })
    expect(await send('setTrack', 'quality', null)).toMatchObject({ quality: null })
    expect(await send('seek', 7)).toMatchObject({ currentTime: 7 })
    await waitForEvent(page, 'chapterchange')
    expect(await send('pause')).toMatchObject({ paused: true })
    await send('seek', 11.8)
    await send('play')
    await waitForEvent(page, 'ended')
    expect(await send('load', otherId)).toMatchObject({ videoId: otherId })
    expect(await send('play')).toMatchObject({ videoId: otherId, title: 'Other', paused: false })
    await send('load', '1')
    await waitForEvent(page, 'error')
    const events = await readEvents(page)
    expect([...new Set(events.map(({ event }) => event))].toSorted()).toEqual(EVENTS.filter((name) => name !== 'refused').toSorted())
    const updates = events.filter(({ event }) => event === 'timeupdate').map(({ at }) => at)
    // A busy page receives several events at once, so only the average interval is known.
    expect(updates.length - 1).toBeLessThan(((updates.at(-1) ?? 0) - (updates[0] ?? 0)) / MIN_UPDATE_INTERVAL_MS)
    // Requests for the video that does not exist cause errors.
    expect(errors.filter((line) => !line.includes('/v2/')).filter((error) => !error.endsWith('/player/1'))).toEqual([])
  }, 120_000)

  test('can run the example of the guide', async () => {
    const [, example = ''] = /```js\n(.*?)```/s.exec(await readFile(join(root, 'docs/guides/embed-the-player.md'), 'utf8')) ?? []
    // The video is shorter than that of the guide.
    const code = example.replace(`'@vitascope/player'`, `'/package/player.js'`).replace('seek(90)', 'seek(9)')
    expect(code).not.toBe(example)
    const { page, errors } = await open('guide', frame(video.video_id), code)
    const ended = page.waitForEvent('console', { predicate: (message) => message.text() === 'ended', timeout: extendTimeout(60_000) })
    const readTime = () =>
      page
        .frameLocator('#film')
        .locator('video')
        .evaluate((element: Media) => element.currentTime)
    await waitFor(async () => (await readTime()) > 9, { timeout: 30_000, describe: 'the position of the example' })
    await ended
    expect(errors).toEqual([])
  }, 120_000)

  test('gets `refused` for unknown commands and values out of range, and for each message of a flood', async () => {
    const { page, errors } = await open('refusals', frame(video.video_id), hostCode)
    for (const [name, values, reason] of [
      ['seek', [-1], 'bad_argument'],
      ['seek', [3_600], 'bad_argument'],
      ['setRate', [0.1], 'bad_argument'],
      ['setVolume', [2], 'bad_argument'],
      ['setTrack', ['captions', '99'], 'bad_argument'],
      ['load', ['../../v2/user'.repeat(1_000)], 'bad_argument'],
    ] as const) {
      expect([name, (await run(page, name, ...values)).reason]).toEqual([name, reason])
    }
    const FLOOD = 2_000
    const before = (await readEvents(page)).filter(({ event }) => event === 'refused').length
    await page.evaluate((count) => {
      const { target } = globalThis as unknown as Host
      for (const data of ['{', null, 5, [], { vitascope: 2, command: 'play', id: 1 }]) target.postMessage(data, '*')
      for (let id = 1; id <= count; id++) target.postMessage({ vitascope: 1, id: 2e9 + id, command: id % 2 ? 'explode' : 'seek' }, '*')
    }, FLOOD)
    const refused = () =>
      page.evaluate((first) => (globalThis as unknown as Host).events.filter(({ event }) => event === 'refused').length - first, before)
    await waitFor(async () => (await refused()) === FLOOD, { timeout: 30_000, describe: 'all refusals' })
    const answers = await page.evaluate(() => (globalThis as unknown as Host).answers.filter(({ id }) => id !== undefined && id > 2e9))
    expect(answers.length).toBe(FLOOD)
    expect(new Set(answers.map(({ error }) => error))).toEqual(new Set(['unknown_command', 'bad_argument']))
    expect((await run(page, 'play')).state).toMatchObject({ paused: false })
    expect(errors).toEqual([])
  }, 90_000)

  test.each([
    [{ javascript_api_allowed_domains: 'www.example.org, *.example.com' }, 'refused'],
    [{ use_javascript_api: 0 }, 'refused'],
    [{ javascript_api_allowed_domains: 'www.example.org 127.0.0.1' }, 'ready'],
  ])(
    'with the profile %j it gets the event %s',
    async (profile, event) => {
      const { page, errors } = await open('profile', frame(await createProfile(profile)), hostCode)
      await waitForEvent(page, event)
      const { reason } = await page.evaluate(() =>
        (globalThis as unknown as Host).player.ready.then(
          () => ({ reason: undefined }),
          (error: { reason: string }) => ({ reason: error.reason }),
        ),
      )
      expect(reason).toBe(event === 'refused' ? 'origin' : undefined)
      if (event === 'refused') expect((await readEvents(page)).some(({ state }) => state !== undefined)).toBe(false)
      expect(errors).toEqual([])
    },
    60_000,
  )

  test('uses the element like a media element', async () => {
    const { page, errors } = await open(
      'element',
      `<vitascope-player host="${platform.url}" video="${video.video_id}" muted></vitascope-player>`,
      `import '/package/element.js'
      const [element] = document.getElementsByTagName('vitascope-player')
      window.names = []
      for (const name of ['ready', 'play', 'pause', 'timeupdate', 'refused']) element.addEventListener(name, () => names.push(name))`,
    )
    const element = page.locator('vitascope-player')
    const waitForName = (name: string) =>
      waitFor(() => page.evaluate((wanted) => (globalThis as unknown as { names: string[] }).names.includes(wanted), name), {
        timeout: 30_000,
        describe: `the event ${name}`,
      })
    await waitForName('ready')
    expect(await element.evaluate(({ duration, paused, muted }: Media) => [Math.round(duration), paused, muted])).toEqual([12, true, true])
    await element.evaluate((media: Media) => media.play())
    await waitForName('timeupdate')
    await element.evaluate((media: Media) => Object.assign(media, { currentTime: 5, playbackRate: 0.5, volume: 0.2, muted: false }))
    await waitFor(
      () =>
        element.evaluate((media: Media) => media.currentTime >= 5 && media.playbackRate === 0.5 && media.volume === 0.2 && !media.muted),
      { describe: 'the new state' },
    )
    await element.evaluate((media: Media) => {
      media.pause()
      media.currentTime = -1
    })
    for (const name of ['pause', 'refused']) await waitForName(name)
    expect(await element.evaluate((media: Media) => media.paused)).toBe(true)
    expect(errors).toEqual([])
  }, 90_000)

  test('controls the player by the library player.js', async () => {
    const { page, errors } = await open(
      'player-js',
      `${frame(video.video_id)}<script src="/library/player.js"></script>`,
      `const player = new playerjs.Player('film')
      const [got, log] = [(name) => new Promise((resolve) => player[name](resolve)), []]
      for (const name of ['play', 'pause', 'timeupdate', 'progress', 'error']) player.on(name, (value) => log.push([name, value]))
      window.log = log
      window.result = new Promise((resolve) => player.on('ready', async () => {
        player.setVolume(40)
        player.setCurrentTime(5)
        player.setLoop(true)
        player.mute()
        const values = {}
        for (const name of ['getVolume', 'getDuration', 'getCurrentTime', 'getMuted', 'getPaused', 'getLoop']) values[name] = await got(name)
        player.setCurrentTime(-5)
        player.play()
        resolve(values)
      }))`,
    )
    type Library = { result: Promise<Record<string, unknown>>; log: [string, { seconds?: number; code?: number }][] }
    const result = await page.evaluate(() => (globalThis as unknown as Library).result)
    expect(result).toMatchObject({ getVolume: 40, getCurrentTime: 5, getMuted: true, getPaused: true, getLoop: true })
    expect(Math.round(result['getDuration'] as number)).toBe(12)
    const log = () => page.evaluate(() => (globalThis as unknown as Library).log)
    for (const name of ['play', 'timeupdate', 'progress']) {
      await waitFor(async () => (await log()).some(([event]) => event === name), { timeout: 20_000, describe: `the event ${name}` })
    }
    expect((await log()).find(([event]) => event === 'timeupdate')?.[1].seconds).toBeGreaterThanOrEqual(5)
    expect((await log()).find(([event]) => event === 'error')?.[1].code).toBe(1)
    expect(errors).toEqual([])
  }, 60_000)

  test.each([
    ['docs/guides/embed-the-player.md', /```js\n(import \{ createPlayer.*?)```/s],
    ['packages/player/README.md', /<script type="module">\n(\s+import \{ createPlayer.*?)<\/script>/s],
  ])(
    'runs the example of %s',
    async (file, pattern) => {
      const [, example = ''] = pattern.exec(await readFile(join(root, file), 'utf8')) ?? []
      expect(example).not.toBe('')
      const code = example
        .replace("'@vitascope/player'", "'/package/player.js'")
        .replace('seek(90)', 'seek(9)')
        .replace(/$/, '\nwindow.finished = player.state')
      const { page, errors } = await open('example', frame(video.video_id), code)
      await waitFor(() => page.evaluate(() => 'finished' in globalThis), { timeout: 30_000, describe: 'the end of the example' })
      expect(await page.evaluate(() => (globalThis as unknown as { finished: State }).finished)).toMatchObject({ paused: false })
      expect(errors).toEqual([])
    },
    60_000,
  )
})
