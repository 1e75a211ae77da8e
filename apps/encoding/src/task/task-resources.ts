import { chunkMemoryBytes, type EncodePlan } from '@vitascope/media'
import type { StoredFile } from './task.ts'

/** Peak rate of an encoder, as a multiple of its average rate. */
const BURST = 2
/**
 * Maximum bytes of a long chunk that wait for their upload. The other bytes are uploaded while it
 * is encoded.
 */
const MAX_WAITING_BYTES = 2 ** 30
/** Share of the segments that are joined to make the images. */
const IMAGE_SHARE = 0.1

/**
 * Returns true for the audio and for a video that is a single chunk. Their encode may take hours.
 * Their segments are uploaded and playable before it ends.
 */
export function isLong(plan: EncodePlan, chunk: number): boolean {
  return plan.chunks[chunk] === undefined || plan.chunks.length === 1
}

/** Returns the memory that the encode of a chunk requires, in MiB. */
export function chunkMemoryMib(plan: EncodePlan): number {
  return Math.ceil(chunkMemoryBytes(plan) / 2 ** 20)
}

/**
 * Returns the maximum scratch bytes of a video chunk, or of the audio, in addition to the source.
 */
export function chunkScratchBytes(plan: EncodePlan, chunk: number): number {
  const { video, audio, durationSeconds, renditions } = plan
  const planned = plan.chunks[chunk]
  const kbps = planned
    ? sum(renditions.map((rendition) => rendition.video?.kbps ?? 0))
    : sum((audio?.tracks ?? []).map((track) => track.kbps))
  const seconds = planned && video ? (durationSeconds * planned.frames) / video.frames : durationSeconds
  const bytes = Math.ceil(((BURST * kbps * 1000) / 8) * seconds)
  return isLong(plan, chunk) ? Math.min(MAX_WAITING_BYTES, bytes) : bytes
}

/**
 * Returns the scratch bytes of packaging: all segments, plus a file of each rendition and of the
 * audio, made of the same frames.
 */
export function packageScratchBytes({ renditions, audio }: EncodePlan, segments: readonly StoredFile[]): number {
  const tracks = new Map<string, number>()
  for (const { path, bytes } of segments) {
    const key = path.slice(0, path.indexOf('/'))
    tracks.set(key, (tracks.get(key) ?? 0) + bytes)
  }
  const readBytes = (key: string | undefined) => (key === undefined ? 0 : (tracks.get(key) ?? 0))
  const files = sum(renditions.map(({ key, audioKey }) => readBytes(key) + readBytes(audioKey)))
  const sound = Math.max(0, ...(audio?.tracks ?? []).map(({ key }) => readBytes(key)))
  return Math.ceil((1 + IMAGE_SHARE) * sum([...tracks.values()]) + files + sound)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0)
}
