import { importScript } from '../recovery/import-script.ts'
import { playNatively } from './browser-playback.ts'
import type { Playback, PlaybackOptions } from './playback.ts'

/**
 * Plays HLS by hls.js. In browsers without Media Source Extensions (iPhones), the browser plays the
 * HLS. If neither is possible, the MP4 is played. Throws `OutdatedPage`.
 */
export async function startPlayback(options: PlaybackOptions, signal: AbortSignal): Promise<Playback> {
  const { video, source, recovery } = options
  if (source.hls !== '') {
    const { playWithHlsJs } = await importScript(() => import('./hls-playback.ts'), recovery, signal)
    signal.throwIfAborted()
    const playback = playWithHlsJs(options)
    if (playback) return playback
    if (video.canPlayType('application/vnd.apple.mpegurl') !== '') return playNatively(source.hls, options)
  }
  return playNatively(source.mp4, options)
}
