import type { EncodePlan } from '@vitascope/media'
import type { StoredFile } from './task.ts'

/** An encoder meets its rate in the mean of the whole, not in every part. */
const BURST = 2
/** What is made in a long run goes into storage meanwhile: so much of it may wait. */
const WAITING_BYTES = 2 ** 30
/** Images are made of some segments, which are joined for it. */
const IMAGE_SHARE = 0.1

/** Sound, and a picture that cannot be cut: they may take hours, and what there is of them can be watched meanwhile. */
export function isLong(plan: EncodePlan, chunk: number): boolean {
  return plan.chunks[chunk] === undefined || plan.chunks.length === 1
}

/** What a chunk of the picture, or the sound of the whole, takes of the local disk beside its source, at most. */
export function chunkScratchBytes(plan: EncodePlan, chunk: number): number {
  const { video, audio, durationSeconds, renditions } = plan
  const planned = plan.chunks[chunk]
  const kbps = planned ? sum(renditions.map((made) => made.video?.kbps ?? 0)) : sum((audio?.tracks ?? []).map((track) => track.kbps))
  const seconds = planned && video ? (durationSeconds * planned.frames) / video.frames : durationSeconds
  const bytes = Math.ceil(((BURST * kbps * 1000) / 8) * seconds)
  return isLong(plan, chunk) ? Math.min(WAITING_BYTES, bytes) : bytes
}

/** What packaging takes of it: all segments, and beside them a file of each rendition and of the sound, made of the same frames. */
export function packageScratchBytes({ renditions, audio }: EncodePlan, segments: readonly StoredFile[]): number {
  const tracks = new Map<string, number>()
  for (const { path, bytes } of segments) {
    const key = path.slice(0, path.indexOf('/'))
    tracks.set(key, (tracks.get(key) ?? 0) + bytes)
  }
  const of = (key: string | undefined) => (key === undefined ? 0 : (tracks.get(key) ?? 0))
  const files = sum(renditions.map(({ key, audioKey }) => of(key) + of(audioKey)))
  const sound = Math.max(0, ...(audio?.tracks ?? []).map(({ key }) => of(key)))
  return Math.ceil((1 + IMAGE_SHARE) * sum([...tracks.values()]) + files + sound)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0)
}
