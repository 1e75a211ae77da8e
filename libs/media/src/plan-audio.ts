import type { Rung } from './ladder.ts'
import type { SourceAudio } from './source-probe.ts'

/** The sound of a plan. It is encoded by a run of its own, once for the whole. */
export interface PlannedAudio {
  /** What is to be heard: the default one first, at most `mostSounds`. */
  sounds: PlannedSound[]
  /** Each sound in each rate that a rendition has. */
  tracks: PlannedAudioTrack[]
  /** As of a chunk. */
  expectedCpuSeconds: number
}

/** One audio stream of the source. */
export interface PlannedSound {
  streamIndex: number
  channels: number
  /** BCP 47; empty where the file says nothing. */
  language: string
  /** What a player shows to choose by; no two are the same. */
  name: string
  /** Seconds of silence at the end, because the picture or the default sound goes on. */
  silenceSeconds: number
}

export interface PlannedAudioTrack {
  key: string
  /** The key of the default sound in this rate: the tracks of a group differ by what is heard alone. */
  group: string
  /** Index in `sounds`. */
  sound: number
  kbps: number
}

/** Beyond them the tracks of a source are left out. */
export const mostSounds = 8

/** The first block of sound is the encoder's own: what is shorter has none left. */
export const shortestSoundSeconds = 0.025

/** Frames and samples that damage at the end of a source may cost; what is lost beyond them makes the encode fail. */
export const spareSeconds = 1

/** The key of a group of audio tracks: all that is to be heard, in one rate. */
export function audioGroup(kbps: number): string {
  return `audio_${kbps}`
}

/** `sounds`: the default one first. Undefined without any. */
export function planAudio(sounds: readonly SourceAudio[], rungs: readonly Rung[], durationSeconds: number): PlannedAudio | undefined {
  if (sounds.length === 0) return undefined
  const rates = [...new Set(rungs.map((rung) => rung.audioKbps))].sort((a, b) => a - b)
  const names = namesOf(sounds)
  return {
    sounds: sounds.map(({ index, channels, language, endSeconds }, sound) => ({
      streamIndex: index,
      channels,
      language: languageTag(language),
      name: names[sound] ?? '',
      silenceSeconds: round(Math.max(0, durationSeconds - endSeconds) + spareSeconds),
    })),
    tracks: sounds.flatMap((_, sound) => rates.map((kbps) => ({ key: trackKey(kbps, sound), group: audioGroup(kbps), sound, kbps }))),
    // Measured: 30 ms a second in three rates.
    expectedCpuSeconds: round(durationSeconds * 0.03 * sounds.length),
  }
}

function trackKey(kbps: number, sound: number): string {
  return sound === 0 ? audioGroup(kbps) : `${audioGroup(kbps)}_${sound + 1}`
}

/** The title that the file gives it, else its language, else its number. */
function namesOf(sounds: readonly SourceAudio[]): string[] {
  const names: string[] = []
  for (const [index, { title, language }] of sounds.entries()) {
    const name = title || languageName(language) || (index === 0 ? 'Audio' : `Audio ${index + 1}`)
    names.push(names.includes(name) ? `${name} (${index + 1})` : name)
  }
  return names
}

/** Files speak in three letters, of either ISO 639-2 alphabet; HLS wants the shortest. */
function languageTag(language: string): string {
  if (language === '' || ['und', 'mis', 'zxx', 'mul'].includes(language)) return ''
  return Intl.getCanonicalLocales(language)[0] ?? ''
}

function languageName(language: string): string {
  const tag = languageTag(language)
  return tag === '' ? '' : (new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' }).of(tag) ?? '')
}

function round(seconds: number): number {
  return Math.round(seconds * 1000) / 1000
}
