import { text } from '../language/text.ts'
import { fetchVideo } from '../video/fetch-video.ts'
import { toPageState } from '../video/page-state.ts'
import { type PlayOptions, playVideo } from './play-video.ts'
import type { PlayerShell } from './player-shell.ts'

export interface RollOptions extends Pick<PlayOptions, 'captionPreference' | 'isInPage'> {
  shell: PlayerShell
  /** Ids of videos, which are played in this order. */
  videoIds: readonly string[]
  kind: 'pre' | 'post'
  showTimer: boolean
  /** Poster of the first roll: that of the video that follows. */
  poster: string
  shouldAutoplay: boolean
}

/**
 * Plays videos before or after a video. Each of them is skipped if it cannot be played, because it
 * must not prevent the video itself. Resolves at the end, with whether something was played.
 */
export async function playRolls(options: RollOptions, signal: AbortSignal): Promise<boolean> {
  const { shell, videoIds, kind } = options
  let hasPlayed = false
  for (const videoId of videoIds) {
    const state = toPageState(await fetchVideo(videoId, signal), false)
    if (signal.aborted) return hasPlayed
    if (state.kind !== 'playable' || state.record.settings.passwordProtected) continue
    const end = new AbortController()
    const rollSignal = AbortSignal.any([signal, end.signal])
    shell.frame.dataset['roll'] = kind
    const record = { ...state.record, overlays: [], presentationId: '', chapters: [], poster: hasPlayed ? '' : options.poster }
    const done = waitForEnd(shell.video, rollSignal)
    playVideo(
      {
        ...{ shell, record, videoId, captionPreference: options.captionPreference, isInPage: options.isInPage ?? false },
        token: () => undefined,
        shouldAutoplay: hasPlayed || options.shouldAutoplay,
        showsSlides: false,
        part: { start: 0, end: undefined, loop: false },
        onUnplayable: () => end.abort(),
        onMessage: () => end.abort(),
      },
      rollSignal,
    )
    if (options.showTimer) showTimer(shell, kind, rollSignal)
    const wasPlayed = await done
    end.abort()
    hasPlayed ||= wasPlayed
  }
  delete shell.frame.dataset['roll']
  shell.showBadge('')
  return hasPlayed
}

/** Resolves with true at the end of the video, and with false if the signal aborts first. */
function waitForEnd(video: HTMLVideoElement, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(false)
    video.addEventListener('ended', () => resolve(true), { signal, once: true })
    signal.addEventListener('abort', () => resolve(false), { once: true })
  })
}

function showTimer({ video, showBadge }: PlayerShell, kind: 'pre' | 'post', signal: AbortSignal): void {
  const update = () => {
    if (!Number.isFinite(video.duration)) return
    showBadge(text(kind === 'pre' ? 'rollTimer' : 'rollAfter', { seconds: Math.ceil(video.duration - video.currentTime) }))
  }
  for (const event of ['timeupdate', 'durationchange']) video.addEventListener(event, update, { signal })
}
