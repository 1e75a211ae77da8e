import type { PlayerState } from '@vitascope/player/protocol'
import type { ControlEvent, ControlStatus, PlayerControl } from '../embed-api/player-control.ts'
import type { PlayerShell } from './player-shell.ts'
import { readFullDuration } from './player-store.ts'

export interface ControlledPlayer {
  shell: PlayerShell
  readVideo: () => { videoId: string; title: string }
  /** Returns whether the viewer sees a message, a form or another video instead of the video. */
  isWaiting: () => boolean
  load: PlayerControl['load']
}

/**
 * Milliseconds after which a playback counts as playable although the browser has not loaded its
 * metadata.
 */
const METADATA_TIMEOUT_MS = 3_000

/** Controls the player for a page that embeds it. */
export function createPlayerControl({ shell, readVideo, isWaiting, load }: ControlledPlayer): PlayerControl {
  const { controller, video, source } = shell
  const request = (type: string, detail: unknown) => controller.dispatchEvent(new CustomEvent(type, { detail }))
  const readState = (): PlayerState => ({
    ...readVideo(),
    ...{ paused: video.paused, ended: video.ended, currentTime: video.currentTime, duration: readFullDuration(video, source) },
    ...{ volume: video.volume, muted: video.muted, rate: video.playbackRate },
    ...readTracks(shell),
  })
  const readStatus = createStatusReader(shell, isWaiting)
  const setTrack: PlayerControl['setTrack'] = (kind, id) => {
    const { playback } = source
    const state = readState()
    if (kind === 'captions') {
      if (id !== null && !state.captionTracks.some((track) => track.id === id)) return false
      playback?.captions.choose(id === null ? -1 : Number(id))
      source.onChange.dispatchEvent(new Event('change'))
      return true
    }
    const tracks = kind === 'audio' ? state.audioTracks : state.qualities
    if (id === null ? kind === 'audio' : !tracks.some((track) => track.id === id)) return false
    request(kind === 'audio' ? 'mediaaudiotrackrequest' : 'mediarenditionrequest', id ?? 'auto')
    return true
  }
  return {
    load,
    setTrack,
    readState,
    play: () => video.play(),
    pause: () => video.pause(),
    seek: (seconds) => {
      const { videoId } = readVideo()
      const move = () => {
        // The page may have opened another video while the metadata were loading.
        if (readVideo().videoId === videoId) video.currentTime = seconds
      }
      if (video.readyState >= video.HAVE_METADATA) move()
      else video.addEventListener('loadedmetadata', move, { once: true })
    },
    setRate: (rate) => {
      video.playbackRate = rate
    },
    setVolume: (volume, muted) => {
      video.volume = volume
      if (muted !== undefined) video.muted = muted
    },
    setLoop: (isOn) => {
      video.loop = isOn
    },
    isLooping: () => video.loop,
    readStatus,
    readLoadedPart() {
      const { buffered } = video
      const duration = readFullDuration(video, source)
      return buffered.length > 0 && duration > 0 ? Math.min(1, buffered.end(buffered.length - 1) / duration) : 0
    },
    listen(listener, signal) {
      listenToStatus(shell, readStatus, listener, signal)
      listenToPlayer(shell, readState, listener, signal)
    },
  }
}

/**
 * The duration and the tracks of a playback are known when its metadata are loaded. Some browsers
 * load them only after the start, so their absence delays the status `playable` by at most
 * `METADATA_TIMEOUT_MS`.
 */
function createStatusReader({ frame, video, source }: PlayerShell, isWaiting: () => boolean): () => ControlStatus {
  let timedOut: PlayerShell['source']['playback']
  let timed: PlayerShell['source']['playback']
  return () => {
    const { playback } = source
    if (isWaiting() && (frame.dataset['shows'] === 'notice' || frame.dataset['roll'] !== undefined)) return 'waiting'
    if (frame.dataset['shows'] !== 'video' || frame.dataset['roll'] !== undefined || playback === undefined) return 'loading'
    if (video.readyState >= video.HAVE_METADATA || timedOut === playback) return 'playable'
    if (timed !== playback) {
      timed = playback
      setTimeout(() => {
        timedOut = playback
        source.onChange.dispatchEvent(new Event('change'))
      }, METADATA_TIMEOUT_MS)
    }
    return 'loading'
  }
}

function readTracks({ video, source: { playback, chapters } }: PlayerShell) {
  const captionTracks = (playback?.captions.listTracks() ?? []).map(({ name, language }, index) => ({
    id: String(index),
    label: name || language,
    language,
  }))
  const shown = playback?.captions.chosenIndex() ?? -1
  const audioTracks = playback?.listAudioTracks() ?? []
  return {
    qualities: (playback?.listQualities() ?? []).map(({ id, width, height }) => ({
      id,
      label: `${Math.min(width, height)}p`,
      language: '',
    })),
    quality: playback?.getChosenQuality() ?? null,
    captionTracks,
    captions: shown >= 0 ? String(shown) : null,
    audioTracks: audioTracks.map(({ id, label, language }) => ({ id, label, language })),
    audio: audioTracks.find(({ enabled }) => enabled)?.id ?? null,
    chapters: chapters.map(({ title, start }) => ({ title, start })),
    chapter: chapters.findLast(({ start }) => start <= video.currentTime)?.title ?? null,
  }
}

function listenToStatus(
  { video, source }: PlayerShell,
  readStatus: () => ControlStatus,
  listener: (event: ControlEvent) => void,
  signal: AbortSignal,
): void {
  let last = readStatus()
  const compare = () => {
    const before = last
    last = readStatus()
    if (last !== before && last !== 'loading') listener('ready')
  }
  source.onChange.addEventListener('change', compare, { signal })
  for (const event of ['loadedmetadata', 'emptied']) video.addEventListener(event, compare, { signal })
}

function listenToPlayer(
  { video, source, frame }: PlayerShell,
  readState: () => PlayerState,
  listener: (event: ControlEvent) => void,
  signal: AbortSignal,
): void {
  // Events of the videos before and after the video are not reported: the page has not embedded
  // these.
  const report = (event: ControlEvent) => frame.dataset['roll'] === undefined && listener(event)
  for (const event of ['play', 'pause', 'timeupdate', 'progress', 'ended', 'volumechange', 'ratechange'] as const) {
    video.addEventListener(event, () => report(event), { signal })
  }
  let last = readState()
  const compare = () => {
    const state = readState()
    const before = last
    last = state
    if (state.captions !== before.captions || state.audio !== before.audio) report('trackchange')
    if (state.chapter !== before.chapter) report('chapterchange')
    if (state.quality !== before.quality) report('qualitychange')
  }
  source.onChange.addEventListener('change', compare, { signal })
  for (const event of ['timeupdate', 'resize', 'seeking']) video.addEventListener(event, compare, { signal })
  // If the player changes the quality automatically, only the size of the picture changes.
  video.addEventListener('resize', () => report('qualitychange'), { signal })
  video.textTracks.addEventListener('change', compare, { signal })
}
