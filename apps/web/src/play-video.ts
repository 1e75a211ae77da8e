import { trackView } from './analytics/track-view.ts'
import { applyTheme } from './apply-theme.ts'
import { connectionNotice } from './connection-notice.ts'
import { wireControls } from './controls.ts'
import { fetchRejectionCode } from './fetch-rejection-code.ts'
import { fetchVideo } from './fetch-video.ts'
import { readOverlays } from './overlay.ts'
import { showOverlays } from './overlay-cards.ts'
import { withToken } from './page-address.ts'
import { type PageState, pageState, rejectedMedia } from './page-state.ts'
import { play } from './play-source.ts'
import { type Playback, type PlaybackFailure, type ResumePoint, resumePoint, type Source } from './playback.ts'
import type { PlayerShell } from './player-shell.ts'
import { qualityRule } from './quality-rule.ts'
import { createConnectionRecovery, probeAddress, retryWhenOnline } from './recovery/connection-recovery.ts'
import { OutdatedPage } from './recovery/import-script.ts'
import type { RejectionVerdict } from './recovery/recovering-loader.ts'
import { watchFile } from './recovery/watch-file.ts'
import { wireSeekPreview } from './seek-preview.ts'
import { type CaptionPreference, trackOnLoad } from './show-on-load.ts'
import { showSlides } from './slide-panel.ts'
import type { VideoRecord } from './video-record.ts'

export interface PlayOptions {
  shell: PlayerShell
  record: VideoRecord
  videoId: string
  token: string | undefined
  shouldAutoplay: boolean
  showsSlides: boolean
  captionPreference: CaptionPreference
  /** Called when the video cannot be played any more, so that the page requests its state again. */
  onUnplayable: () => void
  /** Shows a message in place of the video. */
  onMessage: (state: Exclude<PageState, { kind: 'playable' }>, retry?: () => void) => void
}

/** The result of a check after a rejection is reused for this many milliseconds. */
const VERDICT_TTL_MS = 5_000

/**
 * Plays a video in the player until the signal aborts. Returns functions that end the playback and
 * set the URL of the storyboard.
 */
export function playVideo(options: PlayOptions, signal: AbortSignal): { end: () => void; setStoryboard: (storyboard: string) => void } {
  const { shell, videoId, shouldAutoplay, captionPreference, onUnplayable, onMessage } = options
  const { video } = shell
  const address = (media: string) => withToken(media, options.token, location.href)
  let record = options.record
  let playback: Playback | undefined
  /** Serialises the starts of playbacks: two at once would both attach to the `<video>`. */
  let lastStart: Promise<unknown> = Promise.resolve()

  shell.showVideo()
  const recovery = createConnectionRecovery({
    probe: (probeSignal) => probeAddress(address(record.hls || record.mp4), probeSignal),
    onChange: (isRecovering) => notice(isRecovering),
  })
  const notice = connectionNotice(shell.frame, () => recovery.retry(), signal)
  retryWhenOnline(recovery, signal)
  applyTheme(shell, record, address, signal)
  showOverlays(shell.frame, video, readOverlays(record.overlays, location.href), signal)
  const { presentationId } = record
  if (options.showsSlides && presentationId !== '') void showSlides({ shell, presentationId, address, recovery }, signal)
  video.poster = address(record.poster)
  if (shouldAutoplay) video.addEventListener('canplay', () => void autoplay(video), { once: true, signal })
  const setStoryboard = wireSeekPreview(shell, recovery, signal)
  const view = trackView({ video, videoId, language: () => playback?.audioLanguage() || record.language, shouldAutoplay }, signal)
  const controls = wireControls(shell.frame, video, () => playback, signal)

  signal.addEventListener('abort', () => {
    playback?.end()
    recovery.end()
  })

  const start = (resume?: ResumePoint) => {
    const open = async () => {
      if (signal.aborted) return
      const source = sourceOf(record, address, captionPreference)
      playback = await play({ video, source, events, recovery, resume }, signal)
      if (signal.aborted) playback.end()
      controls.refresh()
    }
    lastStart = lastStart.then(open).catch((error: unknown) => {
      if (signal.aborted) return
      failed({ kind: error instanceof OutdatedPage ? 'script' : 'media' }, resumePoint(video, playback))
      if (!(error instanceof OutdatedPage)) throw error
    })
  }
  const failed = (failure: PlaybackFailure, resume: ResumePoint) => {
    playback?.end()
    view.failed('media')
    const watching = new AbortController()
    const retry = () => {
      watching.abort()
      if (failure.kind === 'script') return location.reload()
      shell.showVideo()
      start(resume)
    }
    signal.addEventListener('abort', () => watching.abort(), { once: true })
    onMessage({ kind: 'message', heading: 'This video cannot be played', detail: 'Its files could not be read.', canRetry: false }, retry)
    if (failure.kind === 'missing') void watchFile(failure.address, watching.signal).then((isBack) => isBack && retry())
  }
  /**
   * Finds out why the server rejects a file. The record says whether the files have moved, or
   * whether the video is no longer available to this viewer.
   */
  const checkRejection = async (): Promise<RejectionVerdict> => {
    const state = pageState(await fetchVideo(videoId, signal), options.token !== undefined)
    if (signal.aborted) return 'final'
    if (state.kind === 'message' && state.canRetry) return 'outage'
    if (state.kind !== 'playable') {
      onUnplayable()
      return 'final'
    }
    const hasMoved = state.record.hls !== record.hls || state.record.mp4 !== record.mp4
    record = state.record
    if (hasMoved) {
      const resume = resumePoint(video, playback)
      playback?.end()
      setStoryboard(address(record.storyboard))
      start(resume)
      return 'final'
    }
    const code = await fetchRejectionCode(address(record.hls || record.mp4), signal)
    if (code === '' || signal.aborted) return 'final'
    view.failed('refused')
    playback?.end()
    onMessage(rejectedMedia(code))
    return 'final'
  }
  const events = { changed: () => controls.refresh(), failed, rejected: shareResult(VERDICT_TTL_MS, checkRejection) }

  start()
  return { end: () => playback?.end(), setStoryboard }
}

function sourceOf(record: VideoRecord, address: (media: string) => string, captionPreference: CaptionPreference): Source {
  return {
    hls: address(record.hls),
    mp4: address(record.mp4),
    captionsOnLoad: (tracks) => trackOnLoad(tracks, record.captionsOnLoad, record.settings.captionsOn),
    captionPreference,
    quality: qualityRule(record),
  }
}

/**
 * Returns a function that shares the result of `checkRejection`: among calls during a check, and with later
 * calls for `milliseconds` if the result is `final`.
 */
function shareResult(milliseconds: number, checkRejection: () => Promise<RejectionVerdict>): () => Promise<RejectionVerdict> {
  let last: Promise<RejectionVerdict> | undefined
  return () => {
    if (last) return last
    const verdict = checkRejection()
    const forget = () => {
      if (last === verdict) last = undefined
    }
    verdict.then((is) => (is === 'final' ? setTimeout(forget, milliseconds) : forget()), forget)
    last = verdict
    return verdict
  }
}

/** Browsers allow only muted autoplay until the viewer interacts with the page. */
async function autoplay(video: HTMLVideoElement): Promise<void> {
  try {
    await video.play()
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'NotAllowedError') return
    video.muted = true
    await video.play().catch(() => {})
  }
}
