import { sendEvents } from './event-sender.ts'
import { mayTell } from './may-tell.ts'
import { measureQuality } from './playback-quality.ts'
import { tidy, type ViewEvent } from './view-event.ts'
import { viewId } from './view-id.ts'
import { recordWatchedParts } from './watched-parts.ts'

/** Milliseconds between two words while it plays. */
const toldEvery = 10_000
/** A picture moves a little unevenly, and its clock is read a little late. */
const slack = 0.5

/** What a view is of. */
export interface Viewed {
  video: HTMLVideoElement
  videoId: string
  /** The language heard just now; empty if unknown. */
  language: () => string
  /** True when it begins to play by itself: the start is then measured from here. */
  startsAtOnce: boolean
}

/** Tells the server of one view, until the signal aborts: what is really played, and how well. */
export function tellView({ video, videoId, language, startsAtOnce }: Viewed, signal: AbortSignal): { failed: (error: string) => void } {
  if (!mayTell(document, navigator)) return { failed: () => {} }
  const id = viewId()
  const sender = sendEvents(id)
  const parts = recordWatchedParts()
  const quality = measureQuality()
  let played = false
  let readAt = 0
  /** Where it stood before it began to move. */
  let restedAt = 0
  let timer: number | undefined

  const now = () => performance.now()
  const on = (name: string, act: () => void, target: EventTarget = video) => target.addEventListener(name, act, { signal })
  const tell = (type: ViewEvent['type']) => {
    const where = played ? { position: video.currentTime, ...parts.take() } : {}
    const subtitle = [...video.textTracks].find(({ mode }) => mode === 'showing')?.language ?? ''
    sender.send(
      tidy({ video_id: videoId, view_id: id, type, at: Date.now(), ...where, language: language(), subtitle, qoe: quality.figures(now()) }),
    )
  }
  const read = () => {
    const elapsed = (now() - readAt) / 1_000
    readAt = now()
    if (parts.moves) parts.advance(video.currentTime, elapsed * video.playbackRate + slack)
    else if (!video.paused && !video.seeking && played) parts.begin(video.currentTime)
  }
  const begin = () => {
    quality.plays(now())
    readAt = now()
    if (!parts.moves) {
      // The word that it plays comes a little late.
      const moved = video.currentTime - restedAt
      parts.begin(moved >= 0 && moved <= slack ? restedAt : video.currentTime)
      parts.advance(video.currentTime, slack)
    }
    if (!played) {
      played = true
      tell('play')
    }
    timer ??= window.setInterval(() => tell('progress'), toldEvery)
  }
  const rest = () => {
    parts.stop()
    restedAt = video.currentTime
    quality.rests(now())
    window.clearInterval(timer)
    timer = undefined
  }
  /** The page goes, or another video comes: what was played counts up to here. */
  const leave = () => {
    if (parts.moves) read()
    if (played) tell('progress')
    sender.hurry()
  }

  on('play', () => quality.wished(now()))
  on('playing', begin)
  on('timeupdate', read)
  on('waiting', () => !video.seeking && quality.waits(now()))
  // The position is the new one already: what was played since it was read last, a quarter of a second at most, does not count.
  on('seeking', () => {
    parts.stop()
    restedAt = video.currentTime
    if (played) quality.rests(now())
  })
  on('pause', () => {
    read()
    rest()
    if (!video.ended && played) tell('progress')
  })
  on('ended', () => {
    if (parts.moves) read()
    rest()
    tell('ended')
  })
  on('pagehide', leave, window)
  on('visibilitychange', () => document.visibilityState === 'hidden' && leave(), document)
  signal.addEventListener('abort', () => {
    leave()
    rest()
    sender.stop()
  })

  if (startsAtOnce) quality.wished(now())
  tell('load')
  return {
    failed(error) {
      quality.failed(error)
      tell(played ? 'progress' : 'load')
    },
  }
}
