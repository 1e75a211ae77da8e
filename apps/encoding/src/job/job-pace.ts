import type { EncodePlan } from '@vitascope/media'
import type { Query } from '@vitascope/postgres'
import { readChunkProgress, secondsToGo } from '../work/chunk-speed.ts'
import type { Job } from './job.ts'
import type { JobPace } from './job-message.ts'

/** Copying and checking everything once more, as a share of what the encode costs. */
const PACKAGE_SHARE = 0.05

/** How far the chunks of a job are, and how long it will take from now. */
export async function readPace(query: Query, { jobId, state, plan }: Job): Promise<JobPace> {
  if (plan === undefined) return { chunkProgress: [], expectedSeconds: undefined }
  const chunkProgress = await readChunkProgress(query, jobId)
  if (state !== 'encoding' && state !== 'publishing') return { chunkProgress, expectedSeconds: undefined }
  const packaging = 1 + (plan as EncodePlan).expectedCpuSeconds * PACKAGE_SHARE
  return { chunkProgress, expectedSeconds: packaging + (state === 'encoding' ? await secondsToGo(query, jobId) : 0) }
}
