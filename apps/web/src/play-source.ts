import { playNatively } from './browser-playback.ts'
import type { Playback, PlaybackOptions } from './playback.ts'
import { importScript } from './recovery/import-script.ts'

/**
 * Plays HLS by hls.js, by the browser if it has no Media Source Extensions (iPhones), else the MP4.
 * Throws `OutdatedPage`.
 */
export async function play(options: PlaybackOptions, signal: AbortSignal): Promise<Playback> {
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
