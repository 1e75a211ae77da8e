// npm run screenshots: writes the pictures of the documents, docs/images/console.jpg and player.jpg, from a platform
// with generated videos. Requires Chromium.
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { findFfmpeg } from '@vitascope/media'
import { browserArguments, browserPath, waitFor } from '@vitascope/testing'
import { type Browser, chromium } from 'playwright-core'
import { createPerson, settle, signIn } from '../support/console-page.ts'
import { startSourceServer } from '../support/source-server.ts'
import { startTestPlatform, type TestPlatform } from '../support/test-platform.ts'
import { createTenant, upload, waitUntilSettled } from '../support/video-steps.ts'

const run = promisify(execFile)
const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url))
const EMAIL = 'editor@example.org'
const PASSWORD = 'correct horse battery'
/** Sources of ffmpeg that look like pictures, in the order of their upload. */
const VIDEOS = [
  {
    title: 'Onboarding for new editors',
    seconds: 11,
    filter: 'gradients=s=854x480:c0=0x0b3954:c1=0x087e8b:c2=0xbfd7ea:n=3:speed=0.02:seed=3',
  },
  {
    title: 'Weather balloon over the fjord',
    seconds: 14,
    filter: 'gradients=s=854x480:c0=0x355070:c1=0xb56576:c2=0xeaac8b:n=3:speed=0.02:type=radial:seed=9',
  },
  {
    title: 'Cells under the microscope',
    seconds: 9,
    filter:
      'life=s=320x180:mold=12:ratio=0.12:death_color=0x1a535c:life_color=0x4ecdc4:mold_color=0xf7fff7:seed=5,scale=854:480:flags=neighbor',
  },
  {
    title: 'Quarterly update',
    seconds: 12,
    filter: 'gradients=s=854x480:c0=0x3d348b:c1=0x7678ed:c2=0xf7b801:n=3:speed=0.02:type=spiral:seed=7',
  },
  { title: 'A carpet that never ends', seconds: 10, filter: 'sierpinski=s=854x480:type=carpet:seed=4,hue=h=210:s=3,eq=brightness=-0.1' },
  {
    title: 'Studio tour',
    seconds: 15,
    filter: 'gradients=s=854x480:c0=0x132a13:c1=0x4f772d:c2=0xecf39e:n=3:speed=0.02:type=circular:seed=2',
  },
  {
    title: 'Interference patterns',
    seconds: 8,
    filter: "geq=lum='128+80*sin(hypot(X-420,Y-300)/14-T*3)*cos(hypot(X-860,Y-420)/17+T*2)':cb=150:cr='110+30*sin(X/400)'",
  },
  { title: 'Into the Mandelbrot set', seconds: 20, filter: 'mandelbrot=s=1280x720:start_scale=1.2:end_scale=0.02:end_pts=900:inner=black' },
] as const

const folder = await mkdtemp(join(tmpdir(), 'vitascope-screenshots-'))
let platform: TestPlatform | undefined
let browser: Browser | undefined
const sources = await startSourceServer(folder)
try {
  platform = await startTestPlatform()
  const tenant = await createTenant(platform.system)
  const api = platform.withKey(tenant.key)
  await createPerson(platform.system, { email: EMAIL, name: 'Console Editor', userType: 'standard', password: PASSWORD, ...tenant })
  const videoIds: string[] = []
  for (const [index, { title, seconds, filter }] of VIDEOS.entries()) {
    const name = `${index}.mp4`
    await makeVideo(filter, seconds, join(folder, name))
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/${name}`, { name: title })
    await waitUntilSettled(api, id, 300_000)
    videoIds.push(id)
    console.log(`encoded ${title}`)
  }
  await api.patch(`/video/${videoIds[1]}`, { visibility: 'unlisted' })
  browser = await chromium.launch({ executablePath: browserPath() ?? '', args: [...browserArguments] })
  const page = await browser.newPage({ viewport: { width: 1440, height: 810 }, locale: 'en-GB', reducedMotion: 'reduce' })
  await page.goto(`${platform.url}/console/videos`)
  await signIn(page, EMAIL, PASSWORD)
  await settle(page)
  const areShown = `document.images.length > 8 && [...document.images].every(({ naturalWidth }) => naturalWidth > 0)`
  await waitFor(() => page.evaluate(areShown), { timeout: 60_000, describe: 'the pictures of the videos' })
  await page.screenshot({ path: join(IMAGES, 'console.jpg'), quality: 82 })
  await page.setViewportSize({ width: 1280, height: 720 })
  await page.goto(`${platform.url}/player/${videoIds.at(-1)}?autoplay=1&muted=1&start=8`)
  const position = () =>
    page.evaluate(`(document.querySelector('vitascope-player')?.shadowRoot ?? document).querySelector('video').currentTime`)
  await waitFor(async () => Number(await position()) > 9, { timeout: 60_000, describe: 'the video to play' })
  await page.mouse.move(640, 360)
  await page.screenshot({ path: join(IMAGES, 'player.jpg'), quality: 82 })
  console.log(`wrote console.jpg and player.jpg to ${IMAGES}`)
} finally {
  await browser?.close()
  await sources.close()
  await platform?.remove()
  await rm(folder, { recursive: true, force: true })
}

async function makeVideo(filter: string, seconds: number, file: string): Promise<void> {
  const { ffmpeg } = await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })
  const source = filter.startsWith('geq') ? `nullsrc=s=640x360,${filter},scale=854:480` : filter
  const input = ['-f', 'lavfi', '-i', source, '-f', 'lavfi', '-i', 'sine=frequency=220:sample_rate=48000']
  const output = ['-t', String(seconds), '-r', '24', '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-c:a', 'aac', file]
  await run(ffmpeg, ['-v', 'error', '-y', ...input, ...output])
}
