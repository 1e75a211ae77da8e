import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserPath, extendTimeout, waitFor } from '@vitascope/testing'
import { type PlayerFixture, startPlayerFixture } from './player-fixture.ts'

const describeInBrowser = browserPath() === undefined ? describe.skip : describe
const packageFolder = join(import.meta.dirname, '../../../packages/player')

const app = `
import { createElement, StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { VitascopePlayer } from ${JSON.stringify(join(packageFolder, 'dist/react.js'))}
window.events = []
function App() {
  const [video, setVideo] = useState('v')
  window.setVideo = setVideo
  const onReady = (player) => { window.player = player; window.events.push('ready') }
  return createElement(VitascopePlayer, { host: window.host, video, muted: true, player: 'poodle', title: 'Film', onReady, onPlay: () => window.events.push('play') })
}
createRoot(document.getElementById('root')).render(createElement(StrictMode, null, createElement(App)))
`

/**
 * Builds the page of a developer who uses React, in a separate process: Vite does not run inside of
 * Jest.
 */
async function buildApp(folder: string): Promise<string> {
  writeFileSync(join(folder, 'app.js'), app)
  const config = {
    root: folder,
    define: { 'process.env.NODE_ENV': '"production"' },
    // The folder of the app has no modules.
    resolve: { alias: ['react-dom/client', 'react'].map((name) => ({ find: name, replacement: requireFromPackage.resolve(name) })) },
    build: { outDir: join(folder, 'out'), lib: { entry: join(folder, 'app.js'), formats: ['es'], fileName: 'app' } },
  }
  writeFileSync(join(folder, 'vite.config.mjs'), `export default ${JSON.stringify(config)}`)
  const vite = join(dirname(requireFromPackage.resolve('vite/package.json')), 'bin/vite.js')
  await promisify(execFile)(process.execPath, [vite, 'build', '--config', join(folder, 'vite.config.mjs'), '--logLevel', 'error'])
  // The extension depends on the package of the folder.
  const [file = ''] = readdirSync(join(folder, 'out'))
  return readFileSync(join(folder, 'out', file), 'utf8')
}

const requireFromPackage = createRequire(join(packageFolder, 'package.json'))

describeInBrowser('the React component', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-react-'))
  let fixture: PlayerFixture
  beforeAll(async () => {
    fixture = await startPlayerFixture()
    for (const id of ['v', 'other']) fixture.platform.setRecord(id, fixture.video({ video_title: id }))
  }, 60_000)
  afterAll(async () => {
    await fixture?.stop()
    rmSync(folder, { recursive: true })
  })

  test('is rendered on a server, where no elements exist', async () => {
    const script = `
      import { createElement } from 'react'
      import { renderToString } from 'react-dom/server'
      import { VitascopePlayer } from '@vitascope/player/react'
      console.log(renderToString(createElement(VitascopePlayer, { host: 'https://video.example.org', video: '42', muted: true, autoplay: false })))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { cwd: packageFolder })
    expect(stdout.trim()).toBe('<vitascope-player host="https://video.example.org" video="42" muted=""></vitascope-player>')
  }, 30_000)

  test('shows a video, reports its events, and shows another one', async () => {
    const code = (await buildApp(folder)).replaceAll('</script', '<\\/script')
    const script = `<script>window.host = ${JSON.stringify(fixture.platform.url)}</script><script type="module">${code}</script>`
    fixture.platform.addPage('/react', `<!doctype html><title>React</title><link rel="icon" href="data:,"><div id="root"></div>${script}`)
    const page = await fixture.openPage()
    await page.goto(`${fixture.platform.url.replace('127.0.0.1', 'localhost')}/react`)
    type App = { events: string[]; player: { play(): Promise<unknown>; state: { title: string } }; setVideo(id: string): void }
    const events = () => page.evaluate(() => (window as unknown as App).events)
    await waitFor(async () => (await events()).includes('ready'), { timeout: 20_000, describe: 'ready' })
    const parameters = await page.locator('vitascope-player iframe').evaluate((frame: HTMLIFrameElement) => new URL(frame.src).search)
    expect(parameters).toBe('?player=poodle&muted=1')
    const frame = page.frameLocator('vitascope-player iframe')
    await frame.locator('[data-menu=quality]').waitFor({ state: 'attached', timeout: extendTimeout(20_000) })
    await page.evaluate(() => (window as unknown as App).player.play())
    await waitFor(async () => (await events()).includes('play'), { timeout: 20_000, describe: 'play' })
    await page.evaluate(() => (window as unknown as App).setVideo('other'))
    await waitFor(() => page.evaluate(() => (window as unknown as App).player.state.title === 'other'), {
      timeout: 20_000,
      describe: 'the other video',
    })
    expect(await page.locator('iframe').count()).toBe(1)
    expect(fixture.errors).toEqual([])
  }, 60_000)
})
