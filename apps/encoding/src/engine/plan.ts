import { type EncodePlan, InvalidSource, pictureEncoders, planEncode, type Rung } from '@vitascope/media'
import type { ProbeResult, WorkerTaskKind } from '../task/task.ts'

/**
 * Thrown if the ffmpeg of the workers cannot encode the requested codec. A retry would not help.
 */
export class EncoderMissing extends Error {
  readonly code = 5006

  constructor(encoder: string, version: string) {
    super(`the ffmpeg of the workers (${version}) has no encoder ${encoder}: install an ffmpeg that has it, then apply the format again`)
    this.name = 'EncoderMissing'
  }
}

/**
 * Returns the plan of a probed source, for all its renditions or for a single one, and the weight
 * of each chunk. If the source has audio, the last weight is that of its audio. Throws
 * `InvalidSource` and `EncoderMissing`.
 */
export function planFor(
  { probe, build }: Pick<ProbeResult, 'probe' | 'build'>,
  { rendition: single, canCopyVideo }: { rendition?: Rung | undefined; canCopyVideo: boolean },
): { plan: EncodePlan; weights: number[] } {
  if (single) checkSingle({ probe, build }, single)
  const plan = planEncode({ probe, tools: build, canCopyPictures: canCopyVideo, ...(single && { single }) })
  const costs = [...plan.chunks, ...(plan.audio ? [plan.audio] : [])]
  return { plan, weights: costs.map(({ expectedCpuSeconds }) => Math.max(0.001, expectedCpuSeconds)) }
}

export function toChunkKind({ chunks }: Pick<EncodePlan, 'chunks'>, chunk: number): WorkerTaskKind {
  return chunk < chunks.length ? 'encode' : 'audio'
}

function checkSingle({ probe, build }: Pick<ProbeResult, 'probe' | 'build'>, { codec = 'h264' }: Rung): void {
  if (!probe.video) throw new InvalidSource(4002, 'the source has no video stream, so no rendition can be added')
  if (!build.codecs.includes(codec)) throw new EncoderMissing(pictureEncoders[codec], build.version)
}
