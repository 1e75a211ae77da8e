import { trackView, untrackedView } from '../analytics/track-view.ts'
import { readOverlays } from '../overlay/overlay.ts'
import { showOverlays } from '../overlay/overlay-cards.ts'
import { readTimeFragment, replaceToken, withToken } from '../page/page-address.ts'
import { startPlayback } from '../playback/play-source.ts'
import { type Playback, type PlaybackFailure, type ResumePoint, readResumePoint, type Source } from '../playback/playback.ts'
import { toQualityRule } from '../playback/quality-rule.ts'
import { type CaptionPreference, findInitialTrack } from '../playback/show-on-load.ts'
import { createConnectionRecovery, probeAddress, retryWhenOnline } from '../recovery/connection-recovery.ts'
import { OutdatedPage } from '../recovery/import-script.ts'
import { keepMoving } from '../recovery/keep-moving.ts'
import type { RejectionVerdict } from '../recovery/recovering-loader.ts'
import { watchFile } from '../recovery/watch-file.ts'
import { showSlides } from '../slides/slide-panel.ts'
import { fetchRejectionCode } from '../video/fetch-rejection-code.ts'
import { fetchVideo } from '../video/fetch-video.ts'
import {
  createOutdatedMessage,
  createUnplayableMessage,
  createUnsupportedMessage,
  type PageState,
  toPageState,
  toRejectionMessage,
} from '../video/page-state.ts'
import type { VideoRecord } from '../video/video-record.ts'
import { applyTheme } from './apply-theme.ts'
import { addConnectionNotice } from './connection-notice.ts'
import { wireControls } from './controls.ts'
import { keepToPart, type PlayedPart } from './played-part.ts'
import type { PlayerShell } from './player-shell.ts'
import { wireSeekPreview } from './seek-preview.ts'

export interface PlayOptions {
  shell: PlayerShell
  record: VideoRecord
  videoId: string
  /** Returns the current token of the viewer. */
  token: () => string | undefined
  shouldAutoplay: boolean
  /** Shows the slides of the video, if it has any, from the start. */
  showsSlides: boolean
  captionPreference: CaptionPreference
  part: PlayedPart
  /** Position in seconds at which playback starts. Undefined: the start of `part`. */
  resumeSeconds?: number | undefined
  /** See `TrackedView`. */
  isReplay?: boolean
  /** See `VitascopePlayer`. */
  isInPage?: boolean
  /** Called when the video cannot be played any more, so that the page requests its state again. */
  onUnplayable: () => void
  /** Shows a message instead of the video. */
  onMessage: (state: Exclude<PageState, { kind: 'playable' }>, retry?: () => void) => void
}

/** The result of a check after a rejection is reused for this many milliseconds. */
const VERDICT_TTL_MS = 5_000

/**
 * Plays a video in the player until the signal aborts. Returns the function that sets
 * the URL of the storyboard, without a token.
 */
export function playVideo(options: PlayOptions, signal: AbortSignal): { setStoryboard: (storyboard: string) => void } {
  const { shell, videoId, shouldAutoplay, captionPreference, isReplay = false, isInPage = false, onUnplayable, onMessage } = options
  const { video } = shell
  const toMediaUrl = (media: string) => withToken(media, options.token(), location.href)
  let record = options.record
  let playback: Playback | undefined
  /** Token of the current source. */
  let sourceToken = options.token()
  /** Serialises the starts of playbacks: two at once would both attach to the `<video>`. */
  let lastStart: Promise<unknown> = Promise.resolve()

  shell.showVideo()
  const recovery = createConnectionRecovery({
    probe: (probeSignal) => probeAddress(toMediaUrl(record.hls || record.mp4), probeSignal),
    onChange: (isRecovering) => setConnectionLost(isRecovering),
  })
  const setConnectionLost = addConnectionNotice(shell.frame, () => recovery.retry(), signal)
  retryWhenOnline(recovery, signal)
  applyTheme(shell, record, toMediaUrl, signal)
  showOverlays(shell.frame, video, readOverlays(record.overlays, location.href), signal)
  const { presentationId } = record
  if (presentationId !== '') {
    const slideOptions = { frame: shell.frame, video, presentationId, isShown: options.showsSlides, toMediaUrl, recovery }
    void showSlides(slideOptions, signal)
  }
  video.poster = toMediaUrl(record.poster)
  const setStoryboard = wireSeekPreview(shell, { recovery, toMediaUrl }, signal)
  const getLanguage = () => playback?.getAudioLanguage() || record.language
  const viewTracker = isInPage ? untrackedView : trackView({ video, videoId, getLanguage, shouldAutoplay, isReplay }, signal)
  if (shouldAutoplay) {
    video.addEventListener('canplay', () => void startAutoplay(video, viewTracker.onAutoplayRejected), { once: true, signal })
  }
  shell.source.chapters = record.chapters
  const controls = wireControls(shell, isInPage ? shell.frame : window, signal)
  keepToPart(video, options.part, signal)
  seekByFragment(shell, signal)
  keepMoving(video, signal)

  signal.addEventListener('abort', () => {
    playback?.end()
    shell.source.playback = undefined
    recovery.end()
  })

  const start = (resume?: ResumePoint) => {
    const openSource = async () => {
      if (signal.aborted) return
      sourceToken = options.token()
      const source = {
        ...toSource(record, toMediaUrl, captionPreference),
        withCurrentToken: (url: string) => replaceToken(url, options.token()),
      }
      playback = await startPlayback({ video, source, events, recovery, resume, reportedView: viewTracker.reportedView }, signal)
      if (signal.aborted) return playback.end()
      shell.source.playback = playback
      controls.refresh()
    }
    lastStart = lastStart.then(openSource).catch((error: unknown) => {
      if (signal.aborted) return
      onFailure({ kind: error instanceof OutdatedPage ? 'script' : 'media' }, readResumePoint(video, playback))
      if (!(error instanceof OutdatedPage)) throw error
    })
  }
  const onFailure = (failure: PlaybackFailure, resume: ResumePoint) => {
    // The player may show another video by now.
    if (signal.aborted) return
    const message = toFailureMessage(failure, video)
    playback?.end()
    viewTracker.onFailure('media')
    const fileWatch = new AbortController()
    const retry = () => {
      fileWatch.abort()
      if (failure.kind === 'script') return location.reload()
      shell.showVideo()
      start(resume)
    }
    signal.addEventListener('abort', () => fileWatch.abort(), { once: true })
    onMessage(message, retry)
    if (failure.kind === 'missing') void watchFile(failure.address, fileWatch.signal).then((isBack) => isBack && retry())
  }
  /**
   * Finds the reason why the server rejects a file. The record shows whether the files have moved,
   * or whether the video is no longer available to this viewer.
   */
  const checkRejection = async (): Promise<RejectionVerdict> => {
    const state = toPageState(await fetchVideo(videoId, signal, options.token()), options.token() !== undefined)
    if (signal.aborted) return 'final'
    if (state.kind === 'message' && state.canRetry) return 'outage'
    if (state.kind !== 'playable') {
      onUnplayable()
      return 'final'
    }
    const isTokenOutdated = sourceToken !== options.token()
    const hasMoved = state.record.hls !== record.hls || state.record.mp4 !== record.mp4 || isTokenOutdated
    record = state.record
    if (hasMoved) {
      const resume = readResumePoint(video, playback)
      playback?.end()
      setStoryboard(record.storyboard)
      start(resume)
      return 'final'
    }
    const code = await fetchRejectionCode(toMediaUrl(record.hls || record.mp4), signal)
    if (code === '' || signal.aborted) return 'final'
    viewTracker.onFailure('rejected')
    playback?.end()
    onMessage(toRejectionMessage(code))
    return 'final'
  }
  const events = {
    onChange: () => controls.refresh(),
    onSwitch: () => viewTracker.onSwitch(),
    onFailure,
    onRejection: shareResult(VERDICT_TTL_MS, checkRejection),
  }

  const startSeconds = options.resumeSeconds ?? options.part.start
  start(startSeconds > 0 ? { seconds: startSeconds, rate: 1, isPlaying: false } : undefined)
  return { setStoryboard }
}

function toFailureMessage(failure: PlaybackFailure, video: HTMLVideoElement): Exclude<PageState, { kind: 'playable' }> {
  if (failure.kind === 'script') return createOutdatedMessage()
  const isUnsupported = failure.kind === 'media' && video.error?.code === MediaError.MEDIA_ERR_SRC_NOT_SUPPORTED
  return isUnsupported ? createUnsupportedMessage() : createUnplayableMessage()
}

/** Seeks when a link of the page changes `#t=`. */
function seekByFragment({ frame, video }: PlayerShell, signal: AbortSignal): void {
  const seek = () => {
    const [seconds] = readTimeFragment(location.hash)
    if (seconds !== undefined && frame.dataset['roll'] === undefined) video.currentTime = seconds
  }
  window.addEventListener('hashchange', seek, { signal })
}

function toSource(
  record: VideoRecord,
  toMediaUrl: (media: string) => string,
  captionPreference: CaptionPreference,
): Omit<Source, 'withCurrentToken'> {
  return {
    hls: toMediaUrl(record.hls),
    mp4: toMediaUrl(record.mp4),
    captionsOnLoad: (tracks) => findInitialTrack(tracks, record.captionsOnLoad, record.settings.captionsOn),
    captionPreference,
    quality: toQualityRule(record),
  }
}

/**
 * Returns a function that shares the result of `checkRejection`: all calls during a check have its
 * result. If the result is `final`, later calls have it as well, for `milliseconds`.
 */
function shareResult(milliseconds: number, checkRejection: () => Promise<RejectionVerdict>): () => Promise<RejectionVerdict> {
  let lastCheck: Promise<RejectionVerdict> | undefined
  return () => {
    if (lastCheck) return lastCheck
    const check = checkRejection()
    const forget = () => {
      if (lastCheck === check) lastCheck = undefined
    }
    check.then((verdict) => (verdict === 'final' ? setTimeout(forget, milliseconds) : forget()), forget)
    lastCheck = check
    return check
  }
}

/**
 * Starts playback. Many browsers allow only muted playback until the viewer interacts with the
 * page. Calls `onRejected` if they do not allow that either.
 */
async function startAutoplay(video: HTMLVideoElement, onRejected: () => void): Promise<void> {
  try {
    await video.play()
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'NotAllowedError') return
    const wasMuted = video.muted
    video.muted = true
    await video.play().catch(() => {
      // The viewer starts the video, with sound.
      video.muted = wasMuted
      onRejected()
    })
  }
}
