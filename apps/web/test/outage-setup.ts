import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFfmpeg } from '@vitascope/media'
import { browserArguments } from '@vitascope/testing'
import { type Browser, chromium } from 'playwright-core'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { createLongMedia } from './long-media.ts'
import { startTestPlatform } from './stand-in-platform.ts'

export interface OutageSetup {
  browser: Browser
  platform: Awaited<ReturnType<typeof startTestPlatform>>
  openProxy(): Promise<FaultProxy>
  stop(): Promise<void>
}

/**
 * Starts a browser and a platform with the videos `long` (HLS with an MP4 as fallback), `hls` and
 * `mp4`. Media URLs use the origin that the page was loaded from.
 */
export async function startOutageSetup(browserFile: string): Promise<OutageSetup> {
  const media = mkdtempSync(join(tmpdir(), 'vitascope-outage-'))
  createLongMedia((await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })).ffmpeg, media, 180)
  const platform = await startTestPlatform(media)
  const browser = await chromium.launch({ executablePath: browserFile, args: [...browserArguments] })
  const proxies: FaultProxy[] = []
  const status = { status: 'ok', progress: 100, code: 2000 }
  const hls = '/media/long.m3u8'
  const http = { h264_500: '/media/long.mp4' }
  platform.setRecord('long', { video_title: 'Launch', uri: { hls, http }, status })
  platform.setRecord('hls', { video_title: 'Launch', uri: { hls, http: {} }, status })
  platform.setRecord('mp4', { video_title: 'Launch', uri: { http }, status })
  return {
    browser,
    platform,
    async openProxy() {
      const proxy = await startFaultProxy(platform.url)
      proxies.push(proxy)
      return proxy
    },
    async stop() {
      await browser.close()
      for (const proxy of proxies) await proxy.close()
      await platform.stop()
      rmSync(media, { recursive: true, force: true })
    },
  }
}
