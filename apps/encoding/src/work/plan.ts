import { type EncodePlan, planEncode } from '@vitascope/media'
import type { ProbeResult } from './task.ts'

/** The plan of a probed source, and what share of the work each of its chunks is. Throws `SourceRefused`. */
export function planFor({ probe, build }: ProbeResult): { plan: EncodePlan; weights: number[] } {
  const plan = planEncode({ probe, tools: build })
  // Without a picture there are no frames to count, and one chunk is the whole.
  return { plan, weights: plan.chunks.map((chunk) => Math.max(1, chunk.frames)) }
}
