import Hls from 'hls.js'
import { text } from '../language/text.ts'
import { createLoaderClass } from '../recovery/recovering-loader.ts'
import { playNatively } from './browser-playback.ts'
import { createHlsCaptions } from './captions-tracks.ts'
import { createCmcdConfig } from './cmcd-config.ts'
import { type AudioTrack, mergeQualities, type Playback, type PlaybackOptions, readResumePoint, type SourceChoices } from './playback.ts'
import { filterLevels, type QualityRule } from './quality-rule.ts'
import { skipShortGap } from './short-gap.ts'

/** A second decoding error within this time is reported and not repaired. */
const REPAIR_INTERVAL_MS = 10_000

/**
 * Plays HLS by hls.js. Returns undefined in browsers without Media Source Extensions.
 * The loader of `createLoaderClass` hides outages from hls.js.
 */
export function playWithHlsJs(options: PlaybackOptions): Playback | undefined {
  if (!Hls.isSupported()) return undefined
  const { video, source, events, recovery, resume, reportedView } = options
  const loader = createLoaderClass(Hls, { recovery, checkRejection: events.onRejection, toCurrentUrl: source.withCurrentToken })
  const cmcd = reportedView && createCmcdConfig(reportedView, video)
  const hls = new Hls({ enableWorker: false, autoStartLoad: false, loader, ...(cmcd && { cmcd: cmcd.config }) })
  if (cmcd) hls.once(Hls.Events.DESTROYING, cmcd.end)
  let fallback: Playback | undefined
  let repairedAt = Number.NEGATIVE_INFINITY
  const captionOptions = { onLoad: source.captionsOnLoad, preference: source.captionPreference }
  const captions = createHlsCaptions(hls, Hls, captionOptions, events.onChange)

  hls.on(Hls.Events.MANIFEST_PARSED, () => {
    removeExcludedLevels(hls, source.quality)
    restoreQuality(hls, resume)
    // Starts at 0 by default: hls.js would start a video that is still being encoded at its newest
    // segment, like a live stream.
    hls.startLoad(resume?.seconds ?? 0)
    if (resume) restorePlaying(video, resume)
    events.onChange()
  })
  // From here on, hls.js may start loading by itself, after a repaired media error. If this were
  // set earlier, hls.js would start a second time, at its own position.
  hls.once(Hls.Events.LEVEL_LOADED, () => {
    hls.config.autoStartLoad = true
  })
  hls.on(Hls.Events.AUDIO_TRACKS_UPDATED, () => {
    restoreSound(hls, resume)
    events.onChange()
  })
  hls.on(Hls.Events.AUDIO_TRACK_SWITCHED, events.onChange)
  let height = 0
  hls.on(Hls.Events.LEVEL_SWITCHED, (_, { level }) => {
    const previousHeight = height
    height = hls.levels[level]?.height ?? 0
    if (previousHeight > 0 && height > 0 && height !== previousHeight) {
      cmcd?.reportSwitch({ from: previousHeight, to: height })
      events.onSwitch()
    }
    events.onChange()
  })
  hls.on(Hls.Events.LEVELS_UPDATED, events.onChange)
  hls.on(Hls.Events.BUFFER_APPENDED, () => skipShortGap(video))
  hls.on(Hls.Events.ERROR, (_, { fatal, type, frag, url, context }) => {
    if (!fatal) return
    if (type === Hls.ErrorTypes.MEDIA_ERROR && performance.now() - repairedAt > REPAIR_INTERVAL_MS) {
      repairedAt = performance.now()
      hls.recoverMediaError()
      return
    }
    const address = type === Hls.ErrorTypes.NETWORK_ERROR ? (frag?.url ?? context?.url ?? url ?? source.hls) : undefined
    const point = readResumePoint(video, playback)
    hls.destroy()
    if (source.mp4 !== '') {
      fallback = playNatively(source.mp4, { ...options, resume: point })
      events.onChange()
    } else events.onFailure(address === undefined ? { kind: 'media' } : { kind: 'missing', address }, point)
  })
  hls.loadSource(source.hls)
  hls.attachMedia(video)

  const playback: Playback = {
    listQualities: () => (fallback ? [] : mergeQualities(hls.levels)),
    chooseQuality: (id) => {
      hls.currentLevel = id === undefined ? -1 : Number(id)
    },
    getChosenQuality: () => (fallback || hls.autoLevelEnabled ? undefined : findQuality(hls)),
    listAudioTracks: () => (fallback ? fallback.listAudioTracks() : listAudioTracks(hls)),
    chooseAudioTrack: (id) => {
      hls.audioTrack = Number(id)
    },
    hasSound: () => fallback !== undefined || hasSound(hls),
    get captions() {
      return fallback ? fallback.captions : captions
    },
    getAudioLanguage: () => (fallback ? '' : (hls.audioTracks[hls.audioTrack]?.lang ?? '')),
    readChoices: () => (fallback ? fallback.readChoices() : readChoices(hls)),
    end() {
      if (fallback) return fallback.end()
      // Otherwise the browser reports an error if it was about to load the address that hls.js now
      // revokes.
      video.removeAttribute('src')
      video.load()
      hls.destroy()
    },
  }
  return playback
}

/** Returns the quality of the chosen level, which may have been chosen by an earlier playback. */
function findQuality(hls: Hls): string | undefined {
  const height = hls.levels[hls.loadLevel]?.height
  return mergeQualities(hls.levels).find((quality) => quality.height === height)?.id
}

function listAudioTracks(hls: Hls): AudioTrack[] {
  return hls.audioTracks.map(({ name, lang, characteristics }, index) => {
    const label = name || (lang ?? '')
    const isDescription = characteristics?.includes('describes-video') ?? false
    return {
      id: String(index),
      label: isDescription ? text('audioDescription', { name: label }) : label,
      language: lang ?? '',
      enabled: index === hls.audioTrack,
    }
  })
}

/** A playlist that names the codecs of its levels names one of audio, too. */
function hasSound(hls: Hls): boolean {
  const hasCodecs = hls.levels.some(({ videoCodec, audioCodec }) => videoCodec !== undefined || audioCodec !== undefined)
  return !hasCodecs || hls.audioTracks.length > 0 || hls.levels.some(({ audioCodec }) => audioCodec !== undefined)
}

/** Removes the levels that the rule excludes, before the first level is loaded. */
function removeExcludedLevels(hls: Hls, rule: QualityRule): void {
  const levels = hls.levels.map(({ width, height, bitrate, uri }) => ({ width, height, bitrate, address: uri }))
  const allowedIndexes = filterLevels(levels, rule)
  for (const index of [...levels.keys()].reverse()) if (!allowedIndexes.includes(index)) hls.removeLevel(index)
  // hls.js sorts the levels by bit rate.
  if (rule.startsWithBest) hls.startLevel = hls.levels.length - 1
}

function readChoices(hls: Hls): SourceChoices {
  const level = hls.autoLevelEnabled ? undefined : hls.levels[hls.loadLevel]
  const track = hls.audioTracks[hls.audioTrack]
  return {
    quality: level && { height: level.height, bitrate: level.bitrate },
    sound: track && { name: track.name, language: track.lang ?? '' },
  }
}

function restoreQuality(hls: Hls, resume: SourceChoices | undefined): void {
  const quality = resume?.quality
  if (!quality) return
  const exactIndex = hls.levels.findIndex(({ height, bitrate }) => height === quality.height && bitrate === quality.bitrate)
  const index = exactIndex >= 0 ? exactIndex : hls.levels.findIndex(({ height }) => height === quality.height)
  if (index >= 0) hls.loadLevel = index
}

function restoreSound(hls: Hls, resume: SourceChoices | undefined): void {
  const sound = resume?.sound
  if (!sound) return
  const index = hls.audioTracks.findIndex(({ name, lang }) => name === sound.name && (lang ?? '') === sound.language)
  if (index >= 0 && index !== hls.audioTrack) hls.audioTrack = index
}

function restorePlaying(video: HTMLVideoElement, { rate, isPlaying }: { rate: number; isPlaying: boolean }): void {
  video.playbackRate = rate
  if (isPlaying) void video.play().catch(() => {})
}
