import { createEventSender } from './event-sender.ts'
import { isTrackingAllowed } from './is-tracking-allowed.ts'
import { measureQuality } from './playback-quality.ts'
import { normalise, type ViewEvent } from './view-event.ts'
import { createViewId } from './view-id.ts'
import { recordWatchedParts } from './watched-parts.ts'

/** Milliseconds between two `progress` events during playback. */
const HEARTBEAT_MS = 10_000
/** Tolerance in seconds: the position advances unevenly, and it is read with a delay. */
const TOLERANCE_SECONDS = 0.5

/** The video and player that a view belongs to. */
export interface TrackedView {
  video: HTMLVideoElement
  videoId: string
  /** Returns the language of the current audio track; empty if unknown. */
  language: () => string
  /** True if playback starts automatically. The startup time is then measured from the call. */
  shouldAutoplay: boolean
}

/**
 * Sends the events of one view until the signal aborts: the ranges that were played, and the
 * playback quality.
 */
export function trackView(
  { video, videoId, language, shouldAutoplay }: TrackedView,
  signal: AbortSignal,
): { failed: (error: string) => void } {
  if (!isTrackingAllowed(document, navigator)) return { failed: () => {} }
  const id = createViewId()
  const sender = createEventSender(id)
  const parts = recordWatchedParts()
  const quality = measureQuality()
  let played = false
  let readAt = 0
  /** Position in seconds before the picture began to move. */
  let stoppedAt = 0
  let timer: number | undefined

  const now = () => performance.now()
  const on = (name: string, act: () => void, target: EventTarget = video) => target.addEventListener(name, act, { signal })
  const send = (type: ViewEvent['type']) => {
    const progress = played ? { position: video.currentTime, ...parts.take() } : {}
    const subtitle = [...video.textTracks].find(({ mode }) => mode === 'showing')?.language ?? ''
    sender.send(
      normalise({
        video_id: videoId,
        view_id: id,
        type,
        at: Date.now(),
        ...progress,
        language: language(),
        subtitle,
        qoe: quality.current(now()),
      }),
    )
  }
  const read = () => {
    const elapsed = (now() - readAt) / 1_000
    readAt = now()
    if (parts.isPlaying) parts.advance(video.currentTime, elapsed * video.playbackRate + TOLERANCE_SECONDS)
    else if (!video.paused && !video.seeking && played) parts.begin(video.currentTime)
  }
  const begin = () => {
    quality.playing(now())
    readAt = now()
    if (!parts.isPlaying) {
      // The `playing` event is late: the position has already advanced.
      const moved = video.currentTime - stoppedAt
      parts.begin(moved >= 0 && moved <= TOLERANCE_SECONDS ? stoppedAt : video.currentTime)
      parts.advance(video.currentTime, TOLERANCE_SECONDS)
    }
    if (!played) {
      played = true
      send('play')
    }
    timer ??= window.setInterval(() => send('progress'), HEARTBEAT_MS)
  }
  const stopCounting = () => {
    parts.stop()
    stoppedAt = video.currentTime
    quality.stopped(now())
    window.clearInterval(timer)
    timer = undefined
  }
  /** Sends all events when the page is hidden or closed, or another video is opened. */
  const sendAll = () => {
    if (parts.isPlaying) read()
    if (played) send('progress')
    sender.sendBeacons()
  }

  on('play', () => quality.requested(now()))
  on('playing', begin)
  on('timeupdate', read)
  on('waiting', () => !video.seeking && quality.waiting(now()))
  // `currentTime` is the new position already. The part that was played since the last
  // `timeupdate`, at most a quarter of a second, is not counted.
  on('seeking', () => {
    parts.stop()
    stoppedAt = video.currentTime
    if (played) quality.stopped(now())
  })
  on('pause', () => {
    read()
    stopCounting()
    if (!video.ended && played) send('progress')
  })
  on('ended', () => {
    if (parts.isPlaying) read()
    stopCounting()
    send('ended')
  })
  on('pagehide', sendAll, window)
  on('visibilitychange', () => document.visibilityState === 'hidden' && sendAll(), document)
  signal.addEventListener('abort', () => {
    sendAll()
    stopCounting()
    sender.stop()
  })

  if (shouldAutoplay) quality.requested(now())
  send('load')
  return {
    failed(error) {
      quality.failed(error)
      send(played ? 'progress' : 'load')
    },
  }
}
