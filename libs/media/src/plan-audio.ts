import type { Rung } from './ladder.ts'
import type { SourceAudio } from './source-probe.ts'

/**
 * Sound of a plan: all audio streams that are encoded. It is encoded once for the complete source
 * by a separate run.
 */
export interface PlannedAudio {
  /** Sounds, default first, at most `maxSounds`. */
  sounds: PlannedSound[]
  /** One track for each sound and each audio bitrate of the renditions. */
  tracks: PlannedAudioTrack[]
  /** Estimated CPU time in seconds, as for a chunk. */
  expectedCpuSeconds: number
}

/** One audio stream of the source. */
export interface PlannedSound {
  streamIndex: number
  channels: number
  /** BCP 47. Empty if the file has none. */
  language: string
  /** Name that a player shows; unique. */
  name: string
  /** Seconds of silence to add: the time until the end of the video, and `spareSeconds`. */
  silenceSeconds: number
}

export interface PlannedAudioTrack {
  key: string
  /** Key of the default sound at this bitrate. The tracks of a group differ only in their sound. */
  group: string
  /** Index in `sounds`. */
  sound: number
  kbps: number
}

/** Maximum number of sounds; further audio streams are dropped. */
export const maxSounds = 8

/**
 * Minimum duration of sound. The encoder inserts the first audio block, so shorter sound would be
 * empty.
 */
export const minSoundSeconds = 0.025

/**
 * Seconds of frames and samples that may be lost to damage at the end of a source. A larger loss
 * fails the encode.
 */
export const spareSeconds = 1

/** Returns the key of a group of audio tracks: all sounds at one bitrate. */
export function audioGroup(kbps: number): string {
  return `audio_${kbps}`
}

/**
 * Returns the planned sound. `sounds` has the default first. Returns undefined if there are none.
 */
export function planAudio(sounds: readonly SourceAudio[], rungs: readonly Rung[], durationSeconds: number): PlannedAudio | undefined {
  if (sounds.length === 0) return undefined
  const rates = [...new Set(rungs.map((rung) => rung.audioKbps))].sort((a, b) => a - b)
  const names = buildTrackNames(sounds)
  return {
    sounds: sounds.map(({ index, channels, language, endSeconds }, sound) => ({
      streamIndex: index,
      channels,
      language: languageTag(language),
      name: names[sound] ?? '',
      silenceSeconds: round(Math.max(0, durationSeconds - endSeconds) + spareSeconds),
    })),
    tracks: sounds.flatMap((_, sound) => rates.map((kbps) => ({ key: trackKey(kbps, sound), group: audioGroup(kbps), sound, kbps }))),
    // Measured: 30 ms of CPU per second for three bitrates.
    expectedCpuSeconds: round(durationSeconds * 0.03 * sounds.length),
  }
}

function trackKey(kbps: number, sound: number): string {
  return sound === 0 ? audioGroup(kbps) : `${audioGroup(kbps)}_${sound + 1}`
}

/** Returns the display names: the title in the file, else the language, else the number. */
function buildTrackNames(sounds: readonly SourceAudio[]): string[] {
  const names: string[] = []
  for (const [index, { title, language }] of sounds.entries()) {
    const name = title || languageName(language) || (index === 0 ? 'Audio' : `Audio ${index + 1}`)
    names.push(names.includes(name) ? `${name} (${index + 1})` : name)
  }
  return names
}

/**
 * Returns the shortest language tag, as HLS requires. Files contain three-letter codes of ISO
 * 639-2/B or /T. Matroska stores any text: of a malformed tag such as `en-51`, only the language is used.
 */
function languageTag(language: string): string {
  const [primary = ''] = language.split('-', 1)
  if (['', 'und', 'mis', 'zxx', 'mul'].includes(primary)) return ''
  return canonicalTag(language) ?? canonicalTag(primary) ?? ''
}

/** Returns the canonical form of a language tag, or undefined for a malformed one. */
function canonicalTag(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag)[0]
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function languageName(language: string): string {
  const tag = languageTag(language)
  return tag === '' ? '' : (new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' }).of(tag) ?? '')
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
