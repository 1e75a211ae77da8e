import { createEventSender } from './event-sender.ts'
import { isTrackingAllowed } from './is-tracking-allowed.ts'
import { createQualityMeter } from './playback-quality.ts'
import { findReferrerHost, readReferrer } from './referrer-host.ts'
import { createReportSender } from './report-sender.ts'
import { normaliseEvent, type ViewEvent } from './view-event.ts'
import { createViewId } from './view-id.ts'
import { createPartsRecorder } from './watched-parts.ts'

/** Milliseconds between two `progress` events during playback. */
const HEARTBEAT_MS = 10_000
/** Tolerance in seconds: the position advances unevenly, and it is read with a delay. */
const TOLERANCE_SECONDS = 0.5

/** The video and player that a view belongs to. */
export interface TrackedView {
  video: HTMLVideoElement
  videoId: string
  /** Returns the language of the current audio track, or an empty string if it is unknown. */
  getLanguage: () => string
  /** If true, playback starts automatically, and the startup time is measured from the call. */
  shouldAutoplay: boolean
  /** If true, the viewer has seen this video before, and the view is counted only when playback starts. */
  isReplay: boolean
}

export interface ViewTracker {
  /** The view, for reports of the playback. Undefined if no events may be sent. */
  reportedView: { viewId: string; videoId: string; send: (report: string) => void } | undefined
  onFailure(error: string): void
  /** Called if the browser does not allow that playback starts automatically. */
  onAutoplayRejected(): void
  /** Called when playback continues in a rendition of another height. */
  onSwitch(): void
}

/** Sends no events. */
export const untrackedView: ViewTracker = {
  reportedView: undefined,
  onFailure: () => {},
  onAutoplayRejected: () => {},
  onSwitch: () => {},
}

/**
 * Sends the events of one view until the signal aborts: the ranges that were played, and the
 * playback quality.
 */
export function trackView({ video, videoId, getLanguage, shouldAutoplay, isReplay }: TrackedView, signal: AbortSignal): ViewTracker {
  if (!isTrackingAllowed(document, navigator, location.search)) return untrackedView
  const id = createViewId()
  const sender = createEventSender(id)
  const reportSender = createReportSender()
  const referrer = findReferrerHost(readReferrer(location.search, document.referrer), location.host)
  const recorder = createPartsRecorder()
  const qualityMeter = createQualityMeter()
  let hasPlayed = false
  let lastReadMs = 0
  /** Position in seconds before the picture began to move. */
  let stopPosition = 0
  let timer: number | undefined

  const now = () => performance.now()
  const listen = (name: string, listener: () => void, target: EventTarget = video) => target.addEventListener(name, listener, { signal })
  const send = (type: ViewEvent['type']) => {
    const progress = hasPlayed ? { position: video.currentTime, ...recorder.takeParts() } : {}
    const subtitle = [...video.textTracks].find(({ mode }) => mode === 'showing')?.language ?? ''
    sender.send(
      normaliseEvent({
        video_id: videoId,
        view_id: id,
        type,
        at: Date.now(),
        ...progress,
        language: getLanguage(),
        subtitle,
        referrer,
        qoe: qualityMeter.getQuality(now()),
      }),
    )
  }
  const readPosition = () => {
    const elapsedSeconds = (now() - lastReadMs) / 1_000
    lastReadMs = now()
    if (recorder.isPlaying) recorder.advance(video.currentTime, elapsedSeconds * video.playbackRate + TOLERANCE_SECONDS)
    else if (!video.paused && !video.seeking && hasPlayed) recorder.begin(video.currentTime)
  }
  const beginCounting = () => {
    qualityMeter.onPlaying(now())
    lastReadMs = now()
    if (!recorder.isPlaying) {
      // The `playing` event is late: the position has already advanced.
      const advanceSeconds = video.currentTime - stopPosition
      recorder.begin(advanceSeconds >= 0 && advanceSeconds <= TOLERANCE_SECONDS ? stopPosition : video.currentTime)
      recorder.advance(video.currentTime, TOLERANCE_SECONDS)
    }
    if (!hasPlayed) {
      hasPlayed = true
      send('play')
    }
    timer ??= window.setInterval(() => send('progress'), HEARTBEAT_MS)
  }
  const stopCounting = () => {
    recorder.stop()
    stopPosition = video.currentTime
    qualityMeter.onStop(now())
    window.clearInterval(timer)
    timer = undefined
  }
  /** Sends all events when the page is hidden or closed, or another video is opened. */
  const sendAll = () => {
    if (recorder.isPlaying) readPosition()
    if (hasPlayed) send('progress')
    sender.sendBeacons()
    reportSender.sendBeacon()
  }

  listen('play', () => qualityMeter.onRequest(now()))
  listen('playing', beginCounting)
  listen('timeupdate', readPosition)
  listen('waiting', () => !video.seeking && qualityMeter.onWaiting(now()))
  // `currentTime` is the new position already. The part that was played since the last
  // `timeupdate`, at most a quarter of a second, is not counted.
  listen('seeking', () => {
    recorder.stop()
    stopPosition = video.currentTime
    if (hasPlayed) qualityMeter.onStop(now())
  })
  listen('pause', () => {
    readPosition()
    stopCounting()
    if (!video.ended && hasPlayed) send('progress')
  })
  listen('ended', () => {
    if (recorder.isPlaying) readPosition()
    stopCounting()
    // A viewer can seek to the end of a video that was never played.
    if (hasPlayed) send('ended')
  })
  listen('pagehide', sendAll, window)
  listen('visibilitychange', () => document.visibilityState === 'hidden' && sendAll(), document)
  signal.addEventListener('abort', () => {
    sendAll()
    stopCounting()
    sender.stop()
    reportSender.stop()
  })

  if (shouldAutoplay) qualityMeter.onRequest(now())
  if (!isReplay) send('load')
  return {
    reportedView: { viewId: id, videoId, send: reportSender.send },
    onFailure(error) {
      qualityMeter.onFailure(error)
      send(hasPlayed ? 'progress' : 'load')
    },
    onAutoplayRejected: () => qualityMeter.onStop(now()),
    onSwitch: () => qualityMeter.onSwitch(),
  }
}
