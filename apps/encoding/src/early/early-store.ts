import { type EncodePlan, planVersion } from '@vitascope/media'
import type { Query } from '@vitascope/postgres'
import { type EarlyTrack, earlyTrack, type TrackFile } from './early-track.ts'

/**
 * The plan of a job of which something can be watched: it is told so, and its parts are still in storage. One that was planned in an older way
 * begins again.
 */
export async function earlyPlan(query: Query, jobId: string): Promise<EncodePlan | undefined> {
  const [row] = await query<{ plan: EncodePlan }>('select plan from job where job_id = $1 and is_playable and not is_dropped', [jobId])
  return row?.plan.planVersion === planVersion ? row.plan : undefined
}

/** By the index over paths: its cost grows with the segments of one track. */
export async function readTrack(query: Query, jobId: string, key: string): Promise<EarlyTrack | undefined> {
  const files = await query<TrackFile>(
    `select c.chunk, c.prefix, s.path, s.seconds from segment s join chunk c using (job_id, chunk)
     where s.job_id = $1 and s.path like $2 and c.prefix is not null`,
    [jobId, `${key.replaceAll('_', '\\_')}/%`],
  )
  return earlyTrack(files)
}
