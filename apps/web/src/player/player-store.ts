import { createMediaStore, type MediaStore } from 'media-chrome/dist/media-store/media-store.js'
import { requestMap } from 'media-chrome/dist/media-store/request-map.js'
import { type MediaStateOwner, stateMediator } from 'media-chrome/dist/media-store/state-mediator.js'
import { formatTextTrackObj } from 'media-chrome/dist/utils/captions.js'
import type { Playback } from '../playback/playback.ts'
import type { Chapter } from '../video/video-record.ts'

/** State that the controls show in addition to that of the `<video>`. */
export interface PlayerSource {
  playback: Playback | undefined
  /** Duration of the complete video in seconds while only a part can be played, or 0. */
  duration: number
  chapters: readonly Chapter[]
  /**
   * Has an event `change` after each change of the other fields, and of the choices of the
   * playback.
   */
  onChange: EventTarget
}

/** Value of media-chrome for the automatic quality. */
const AUTO = 'auto'

/**
 * Creates the state of the controls. The state of the `<video>` is read by media-chrome. Qualities,
 * audio tracks, captions and chapters come from the playback and the record, because a `<video>`
 * that hls.js fills does not have them.
 */
export function createPlayerStore(video: HTMLVideoElement, frame: HTMLElement, source: PlayerSource): MediaStore {
  const updatedBySource = {
    stateOwnersUpdateHandlers: [
      (handler: () => void) => {
        source.onChange.addEventListener('change', handler)
        return () => source.onChange.removeEventListener('change', handler)
      },
    ],
  }
  const readDuration = () => readFullDuration(video, source)
  const mediator = {
    ...stateMediator,
    mediaDuration: { ...stateMediator.mediaDuration, ...updatedBySource, get: () => readDuration() || Number.NaN },
    mediaSeekable: {
      ...stateMediator.mediaSeekable,
      ...updatedBySource,
      get: (): [number, number] | undefined => (readDuration() > 0 ? [0, readDuration()] : undefined),
    },
    mediaRenditionList: { ...updatedBySource, get: () => source.playback?.listQualities() ?? [] },
    mediaRenditionSelected: {
      ...updatedBySource,
      get: () => source.playback?.getChosenQuality(),
      set: (id: string) => changeSource(source, (playback) => playback.chooseQuality(id === AUTO ? undefined : id)),
    },
    mediaRenditionUnavailable: {
      ...updatedBySource,
      get: () => toAvailability((source.playback?.listQualities().length ?? 0) > 1),
    },
    mediaAudioTrackList: { ...updatedBySource, get: () => source.playback?.listAudioTracks() ?? [] },
    mediaAudioTrackEnabled: {
      ...updatedBySource,
      get: () => source.playback?.listAudioTracks().find(({ enabled }) => enabled)?.id,
      set: (id: string) => changeSource(source, (playback) => playback.chooseAudioTrack(id)),
    },
    mediaAudioTrackUnavailable: {
      ...updatedBySource,
      get: () => toAvailability((source.playback?.listAudioTracks().length ?? 0) > 1),
    },
    mediaSubtitlesList: { ...updatedBySource, get: () => listSubtitles(source) },
    mediaSubtitlesShowing: {
      ...updatedBySource,
      textTracksEvents: ['addtrack', 'removetrack', 'change'],
      get: () => listSubtitles(source).filter((_, index) => index === source.playback?.captions.chosenIndex()),
    },
    // The last chapter ends with the video.
    mediaChaptersCues: { ...updatedBySource, mediaEvents: ['durationchange'], get: () => toCues(source.chapters, readDuration()) },
  }
  let isTurningOff = false
  const requests = {
    ...requestMap,
    mediashowsubtitlesrequest: (_: unknown, __: unknown, { detail }: { detail?: unknown }) => {
      const index = listSubtitles(source).findIndex((track) => formatTextTrackObj(track) === detail)
      if (index < 0) return
      isTurningOff = false
      changeSource(source, ({ captions }) => captions.choose(index))
    },
    // The menu of media-chrome sends this request also before it requests another track. It
    // requests the track `off` after it.
    mediadisablesubtitlesrequest: () => {
      isTurningOff = true
      queueMicrotask(() => isTurningOff && changeSource(source, ({ captions }) => captions.choose(-1)))
    },
    mediatogglesubtitlesrequest: () => changeSource(source, ({ captions }) => captions.toggle()),
  }
  // The types of media-chrome require a function for every state of its own, in its own shapes.
  return createMediaStore({
    media: video as MediaStateOwner,
    fullscreenElement: frame,
    documentElement: document,
    stateMediator: mediator as unknown as typeof stateMediator,
    requestMap: requests as unknown as typeof requestMap,
    options: { noMutedPref: true },
  } as Parameters<typeof createMediaStore>[0])
}

/** Returns the duration of the complete video. During encoding, the playable part is shorter. */
export function readFullDuration(video: HTMLVideoElement, { duration }: Pick<PlayerSource, 'duration'>): number {
  return Math.max(Number.isFinite(video.duration) ? video.duration : 0, duration)
}

function changeSource(source: PlayerSource, change: (playback: Playback) => void): void {
  if (source.playback) change(source.playback)
  source.onChange.dispatchEvent(new Event('change'))
}

function listSubtitles({ playback }: PlayerSource) {
  const tracks = playback?.captions.listTracks() ?? []
  return tracks.map(({ name, language }) => ({ kind: 'subtitles' as const, label: name || language, language }))
}

function toAvailability(isAvailable: boolean): 'unavailable' | undefined {
  return isAvailable ? undefined : 'unavailable'
}

function toCues(chapters: readonly Chapter[], duration: number) {
  return chapters.map(({ title, start }, index) => ({
    text: title,
    startTime: start,
    endTime: chapters[index + 1]?.start ?? duration,
  }))
}
