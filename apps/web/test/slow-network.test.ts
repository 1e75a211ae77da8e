import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { browserPath, waitFor } from '@vitascope/testing'
import { type PlayerFixture, readVideo, startPlayerFixture } from './player-fixture.ts'

const describeInBrowser = browserPath() === undefined ? describe.skip : describe

/** Bytes per second: 400 kbit/s. */
const SLOW_RATE = 50_000

describeInBrowser('on a network with 400 kbit/s', () => {
  let fixture: PlayerFixture
  beforeAll(async () => {
    fixture = await startPlayerFixture()
    fixture.platform.setRecord('v', fixture.video())
  }, 60_000)
  afterAll(() => fixture?.stop())

  test('the player selects the smaller rendition and plays to the end', async () => {
    const page = await fixture.openPage()
    const session = await page.context().newCDPSession(page)
    // The scripts are loaded before, so that only the media are slow.
    await fixture.open(page, 'v')
    await session.send('Network.enable')
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 100,
      downloadThroughput: SLOW_RATE,
      uploadThroughput: SLOW_RATE,
    })
    await fixture.open(page, 'v', '?muted=1&autoplay=1')
    await waitFor(() => readVideo(page, (video) => video.ended), { timeout: 90_000, describe: 'the end of the video' })
    expect(await readVideo(page, (video) => video.videoHeight)).toBe(180)
    expect(await page.locator('.connection').isVisible()).toBe(false)
    expect(await page.locator('.frame').getAttribute('data-waiting')).toBe('false')
  }, 150_000)
})
