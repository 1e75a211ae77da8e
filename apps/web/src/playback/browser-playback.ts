import { type Admission, isOutageStatus } from '../recovery/connection-recovery.ts'
import { pause } from '../recovery/pause.ts'
import { createNativeCaptions } from './captions-tracks.ts'
import { type Playback, type PlaybackFailure, type PlaybackOptions, type ResumePoint, readResumePoint } from './playback.ts'

/**
 * A stalled `<video>` that received no byte for this many seconds triggers one request that checks
 * the server.
 */
const CHECK_SECONDS = 3
/**
 * A stalled `<video>` is reloaded after this many seconds, whether or not the server responds. The
 * time doubles with each reload that does not end the stall, because a slow connection or browser
 * needs longer to load.
 */
const MIN_STALL_SECONDS = 8
const MAX_STALL_SECONDS = 64
/** Delay between the failed request and the request that finds the cause. */
const CHECK_DELAY_MS = 1_000
/**
 * A decoding error within this time after a reload, while the server responds, is attributed to the
 * file.
 */
const RELOAD_INTERVAL_MS = 15_000
const CHECK_TIMEOUT_MS = 10_000

/**
 * Plays an MP4, or HLS in browsers that support it natively. The browser reports no HTTP status and
 * stops loading after a lost connection. In that case the source is reloaded.
 */
export function playNatively(address: string, options: PlaybackOptions): Playback {
  const { video, source, events, recovery } = options
  const playbackEnd = new AbortController()
  const { signal } = playbackEnd
  let admission: Admission | undefined
  let isLoaded = false
  let isReloading = false
  let reloadedAt = Number.NEGATIVE_INFINITY
  /**
   * Whether the viewer has started playback. The browser also pauses by itself when it stops
   * loading.
   */
  let shouldPlay = options.resume?.isPlaying ?? false

  const readCurrentPoint = () => ({ ...readResumePoint(video, undefined), isPlaying: shouldPlay })
  const load = async (resume?: ResumePoint) => {
    admission = await recovery.admit(signal)
    // The browser repeats requests by itself. The repeated request may have succeeded meanwhile.
    if (isLoaded && video.error === null && video.readyState >= video.HAVE_FUTURE_DATA) return admission.reportSuccess()
    // The viewer may have sought, paused or changed the speed during the wait.
    const point = isLoaded ? readCurrentPoint() : resume
    isLoaded = true
    video.src = address
    if (point) resumeAt(video, point)
  }
  /** Finds the cause of an error or a stall, and reloads the source or reports the failure. */
  const repair = async (cause: 'error' | 'early stall' | 'stall') => {
    if (isReloading) return
    isReloading = true
    try {
      if (cause === 'error') await pause(CHECK_DELAY_MS, signal)
      const status = await fetchStatus(address, signal)
      if (cause === 'early stall' && !isOutageStatus(status)) return
      if (isOutageStatus(status)) admission?.reportFailure()
      else if (status >= 400) {
        const rejection = await events.onRejection()
        if (rejection === 'outage') admission?.reportFailure()
        else {
          admission?.reportSuccess()
          return fail({ kind: 'missing', address })
        }
      } else if (performance.now() - reloadedAt > RELOAD_INTERVAL_MS) {
        admission?.reportSuccess()
      } else if (cause === 'error' && video.error?.code !== MediaError.MEDIA_ERR_NETWORK) {
        admission?.reportSuccess()
        return fail({ kind: 'media' })
      } else {
        admission?.reportFailure()
      }
      reloadedAt = performance.now()
      source.captionPreference.chosenTrack ??= findShownTrack(video)
      await load()
    } finally {
      isReloading = false
    }
  }
  const fail = (failure: PlaybackFailure) => events.onFailure(failure, readCurrentPoint())
  const ignoreAfterEnd = (work: Promise<void>) => {
    work.catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
  }

  video.addEventListener(
    'play',
    () => {
      shouldPlay = true
    },
    { signal },
  )
  video.addEventListener(
    'pause',
    () => {
      if (video.error === null) shouldPlay = false
    },
    { signal },
  )
  video.addEventListener('error', () => ignoreAfterEnd(repair('error')), { signal })
  for (const event of ['loadedmetadata', 'playing']) video.addEventListener(event, () => admission?.reportSuccess(), { signal })
  watchStalls(video, (cause) => ignoreAfterEnd(repair(cause)), signal)
  const captions = createNativeCaptions(video, source.captionPreference, events.onChange, signal)
  ignoreAfterEnd(load(options.resume))
  return {
    listQualities: () => [],
    chooseQuality: () => {},
    getChosenQuality: () => undefined,
    listAudioTracks: () => [],
    chooseAudioTrack: () => {},
    hasSound: () => true,
    captions,
    getAudioLanguage: () => '',
    readChoices: () => ({}),
    end: () => {
      admission?.reportAbort()
      playbackEnd.abort()
      video.removeAttribute('src')
      video.load()
    },
  }
}

/** Requests one byte. Returns the HTTP status, or 0 without a response. */
async function fetchStatus(address: string, signal: AbortSignal): Promise<number> {
  try {
    const response = await fetch(address, {
      headers: { range: 'bytes=0-0' },
      cache: 'no-store',
      signal: AbortSignal.any([signal, AbortSignal.timeout(CHECK_TIMEOUT_MS)]),
    })
    await response.body?.cancel()
    return response.status
  } catch {
    signal.throwIfAborted()
    return 0
  }
}

function resumeAt(video: HTMLVideoElement, { seconds, rate, isPlaying }: ResumePoint): void {
  // Before the duration is known, this sets the start position.
  video.currentTime = seconds
  video.playbackRate = rate
  if (isPlaying) void video.play().catch(() => {})
}

function findShownTrack(video: HTMLVideoElement): { name: string; language: string } | undefined {
  const track = [...video.textTracks].find(({ mode }) => mode === 'showing')
  return track && { name: track.label, language: track.language }
}

/**
 * Calls `onStalled` while the video should play, has no buffered media and receives no byte:
 * `early stall` after `CHECK_SECONDS`, and `stall` after `MIN_STALL_SECONDS` and after each longer
 * time that follows.
 */
function watchStalls(video: HTMLVideoElement, onStalled: (cause: 'early stall' | 'stall') => void, signal: AbortSignal): void {
  let seconds = 0
  let stallSeconds = MIN_STALL_SECONDS
  video.addEventListener(
    'progress',
    () => {
      seconds = 0
    },
    { signal },
  )
  const timer = setInterval(() => {
    if (video.readyState >= video.HAVE_FUTURE_DATA) stallSeconds = MIN_STALL_SECONDS
    const isStalled = !video.paused && !video.ended && video.error === null && video.readyState < video.HAVE_FUTURE_DATA
    seconds = isStalled ? seconds + 1 : 0
    if (seconds === CHECK_SECONDS) onStalled('early stall')
    if (seconds < stallSeconds) return
    seconds = 0
    stallSeconds = Math.min(MAX_STALL_SECONDS, 2 * stallSeconds)
    onStalled('stall')
  }, 1_000)
  signal.addEventListener('abort', () => clearInterval(timer))
}
