import { type EncodePlan, planEncode } from '@vitascope/media'
import type { ProbeResult, WorkerTaskKind } from './task.ts'

/** The plan of a probed source, and what each of its chunks costs, the sound of the whole as the last. Throws `SourceRefused`. */
export function planFor({ probe, build }: ProbeResult): { plan: EncodePlan; weights: number[] } {
  const plan = planEncode({ probe, tools: build })
  const costs = [...plan.chunks, ...(plan.audio ? [plan.audio] : [])]
  return { plan, weights: costs.map(({ expectedCpuSeconds }) => Math.max(0.001, expectedCpuSeconds)) }
}

export function kindOfChunk({ chunks }: Pick<EncodePlan, 'chunks'>, chunk: number): WorkerTaskKind {
  return chunk < chunks.length ? 'encode' : 'audio'
}
