import { nativeCaptions } from './captions-tracks.ts'
import { type Playback, type PlaybackFailure, type PlaybackOptions, type ResumePoint, resumePoint } from './playback.ts'
import { type Admission, isOutageStatus } from './recovery/connection-recovery.ts'
import { pause } from './recovery/pause.ts'

/**
 * A stalled `<video>` that received no byte for this many seconds triggers one request that checks
 * the server.
 */
const CHECK_SECONDS = 3
/** A stalled `<video>` is reloaded after this many seconds, whether or not the server responds. */
const STALL_SECONDS = 8
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
  const ended = new AbortController()
  const { signal } = ended
  let admission: Admission | undefined
  let isLoaded = false
  let isReloading = false
  let reloadedAt = Number.NEGATIVE_INFINITY
  /** The viewer's intent. The browser also pauses by itself when it stops loading. */
  let wantsToPlay = options.resume?.isPlaying ?? false

  const currentPoint = () => ({ ...resumePoint(video, undefined), isPlaying: wantsToPlay })
  const load = async (resume?: ResumePoint) => {
    admission = await recovery.admit(signal)
    // The browser repeats requests by itself. The repeated request may have succeeded meanwhile.
    if (isLoaded && video.error === null && video.readyState >= video.HAVE_FUTURE_DATA) return admission.succeeded()
    // The viewer may have sought, paused or changed the speed during the wait.
    const from = isLoaded ? currentPoint() : resume
    isLoaded = true
    video.src = address
    if (from) restore(video, from)
  }
  /** Finds the cause of an error or a stall, and reloads the source or reports the failure. */
  const repair = async (cause: 'error' | 'early stall' | 'stall') => {
    if (isReloading) return
    isReloading = true
    try {
      if (cause === 'error') await pause(CHECK_DELAY_MS, signal)
      const status = await statusOf(address, signal)
      if (cause === 'early stall' && !isOutageStatus(status)) return
      if (isOutageStatus(status)) admission?.failed()
      else if (status >= 400) {
        const verdict = await events.rejected()
        if (verdict === 'outage') admission?.failed()
        else {
          admission?.succeeded()
          return fail({ kind: 'missing', address })
        }
      } else if (performance.now() - reloadedAt > RELOAD_INTERVAL_MS) {
        admission?.succeeded()
      } else if (cause === 'error' && video.error?.code !== MediaError.MEDIA_ERR_NETWORK) {
        admission?.succeeded()
        return fail({ kind: 'media' })
      } else {
        admission?.failed()
      }
      reloadedAt = performance.now()
      source.captionPreference.chosen ??= shownTrack(video)
      await load()
    } finally {
      isReloading = false
    }
  }
  const fail = (failure: PlaybackFailure) => events.failed(failure, currentPoint())
  const unlessEnded = (work: Promise<void>) => {
    work.catch((error: unknown) => {
      if (!signal.aborted) throw error
    })
  }

  video.addEventListener(
    'play',
    () => {
      wantsToPlay = true
    },
    { signal },
  )
  video.addEventListener(
    'pause',
    () => {
      if (video.error === null) wantsToPlay = false
    },
    { signal },
  )
  video.addEventListener('error', () => unlessEnded(repair('error')), { signal })
  for (const event of ['loadedmetadata', 'playing']) video.addEventListener(event, () => admission?.succeeded(), { signal })
  onStall(video, (seconds) => unlessEnded(repair(seconds < STALL_SECONDS ? 'early stall' : 'stall')), signal)
  const captions = nativeCaptions(video, source.captionPreference, events.changed, signal)
  unlessEnded(load(options.resume))
  return {
    qualities: () => [],
    chooseQuality: () => {},
    chosenQuality: () => -1,
    captions,
    audioLanguage: () => '',
    choices: () => ({}),
    end: () => {
      admission?.aborted()
      ended.abort()
      video.removeAttribute('src')
      video.load()
    },
  }
}

/** Returns the HTTP status of a request for one byte, or 0 without a response. */
async function statusOf(address: string, signal: AbortSignal): Promise<number> {
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

function restore(video: HTMLVideoElement, { seconds, rate, isPlaying }: ResumePoint): void {
  // Before the duration is known, this sets the start position.
  video.currentTime = seconds
  video.playbackRate = rate
  if (isPlaying) void video.play().catch(() => {})
}

function shownTrack(video: HTMLVideoElement): { name: string; language: string } | undefined {
  const track = [...video.textTracks].find(({ mode }) => mode === 'showing')
  return track && { name: track.label, language: track.language }
}

/**
 * Calls `act` while the video should play, has no buffered media and receives no byte: after
 * `CHECK_SECONDS`, and every `STALL_SECONDS`.
 */
function onStall(video: HTMLVideoElement, act: (seconds: number) => void, signal: AbortSignal): void {
  let seconds = 0
  video.addEventListener(
    'progress',
    () => {
      seconds = 0
    },
    { signal },
  )
  const timer = setInterval(() => {
    const isStalled = !video.paused && !video.ended && video.error === null && video.readyState < video.HAVE_FUTURE_DATA
    seconds = isStalled ? seconds + 1 : 0
    if (seconds === CHECK_SECONDS || (seconds > 0 && seconds % STALL_SECONDS === 0)) act(seconds)
  }, 1_000)
  signal.addEventListener('abort', () => clearInterval(timer))
}
