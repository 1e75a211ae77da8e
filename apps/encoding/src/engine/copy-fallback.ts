import { hasCopy } from '@vitascope/media'
import type { QueueItem } from '@vitascope/queue'
import type { Metrics } from '@vitascope/telemetry'
import type { Job } from '../job/job.ts'
import type { Fault } from '../task/fault.ts'

/**
 * The reason for replanning a job without copying the video stream of its source. It is a label of
 * the metric:
 *
 * - `source`: ffmpeg reports errors in the video of the source while it copies
 * - `mismatch`: the segments, or the set made of them, differ from the plan
 * - `encoder`: ffmpeg crashed or hung in the run that copies
 */
export type CopyFallback = 'source' | 'mismatch' | 'encoder'

const CAUSES: Readonly<Partial<Record<number, CopyFallback>>> = { 5002: 'encoder', 5003: 'mismatch', 5007: 'source' }

/**
 * Returns why a job must be planned without a copy, or undefined if a copy cannot be the cause.
 * Audio is encoded in a run of its own, without a copy.
 */
export function copyFallbackFor(
  { canCopyVideo, plan }: Pick<Job, 'canCopyVideo' | 'plan'>,
  { kind }: Pick<QueueItem, 'kind'>,
  { code }: Fault,
): CopyFallback | undefined {
  if (!canCopyVideo || (kind !== 'encode' && kind !== 'package') || !plan || !hasCopy(plan)) return undefined
  return CAUSES[code]
}

/** Creates the metric, and returns the function that increments it. */
export function countCopyFallbacks(metrics: Metrics): (reason: CopyFallback) => void {
  const counter = metrics.counter(
    'vitascope_encoding_copy_fallbacks_total',
    'Jobs replanned without copying the video stream of their source, by reason: source, mismatch or encoder',
    ['reason'],
  )
  for (const reason of Object.values(CAUSES)) if (reason) counter.inc({ reason }, 0)
  return (reason) => counter.inc({ reason })
}
