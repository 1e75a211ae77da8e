import { type EncodePlan, planVersion } from '@vitascope/media'
import type { Query } from '@vitascope/postgres'
import { type PreviewTrack, previewTrack, type TrackFile } from './preview-track.ts'

/**
 * Returns the plan of a playable job whose segments are in storage. A job with a plan of an older
 * version is not playable, because it is planned again.
 */
export async function previewPlan(query: Query, jobId: string): Promise<EncodePlan | undefined> {
  const [row] = await query<{ plan: EncodePlan }>('select plan from job where job_id = $1 and is_playable and not is_dropped', [jobId])
  return row?.plan.planVersion === planVersion ? row.plan : undefined
}

/**
 * Returns a track for playback. The query uses the index over paths, so its cost grows with the
 * segments of one track.
 */
export async function readTrack(query: Query, jobId: string, key: string): Promise<PreviewTrack | undefined> {
  const files = await query<TrackFile>(
    `select c.chunk, c.prefix, s.path, s.seconds from segment s join chunk c using (job_id, chunk)
     where s.job_id = $1 and s.path like $2 and c.prefix is not null`,
    [jobId, `${key.replaceAll('_', '\\_')}/%`],
  )
  return previewTrack(files)
}
