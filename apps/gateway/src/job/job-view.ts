import { type Job, JobAction, JobState, type RetryJobResponse } from '@vitascope/proto/catalogue/v1/job'
import { type Job as EncodingJob, JobState as EncodingState, type JobRendition, RenditionState } from '@vitascope/proto/encoding/v1/job'
import { z } from 'zod'
import { shown, timestampText } from '../public-form.ts'
import { PlanRecord, planView } from './plan-view.ts'

const states = ['queued', 'fetching', 'probing', 'encoding', 'publishing', 'ok', 'failed', 'cancelled'] as const
type State = (typeof states)[number]

const renditionStates = ['waiting', 'encoding', 'ok', 'failed'] as const

export const JobRecord = z
  .object({
    job_id: shown.id('job'),
    video_id: shown.id('video'),
    media_id: shown.id('media'),
    action: z.enum(['new video', 'replace', 'add rendition']),
    state: z.enum(states).meta({ description: 'Where the job stands.' }),
    progress: shown.int('Percent, never backwards.', 57),
    attempt: shown.int('Which try it is; 0 before the first, at most 3.', 1),
    plan: PlanRecord.nullable().meta({ description: 'Ladder and chunks; null before it is made.' }),
    renditions: z
      .array(
        z.object({
          key: shown.text('As in `uri.http` of the video.', 'h264_1200'),
          state: z.enum(renditionStates),
          width: shown.int('Pixels; 0 without a picture.', 1280),
          height: shown.int('Pixels; 0 without a picture.', 720),
          bytes: shown.int('Size of the file; 0 until it is complete.'),
          bitrate: shown.int('Average, bit/s; 0 until it is complete.'),
        }),
      )
      .meta({ description: 'By rising rate; empty before the plan is made.' }),
    error: z
      .object({ code: shown.int('4001 to 4005 a fault of the source, 5xxx ours.', 4001), message: shown.text('Why, for people.') })
      .nullable()
      .meta({ description: 'null unless it failed or was cancelled.' }),
    time_created: shown.timestamp('When it was accepted.'),
    time_started: shown.timestamp('When its work began; empty before.'),
    time_finished: shown.timestamp('When it ended; empty before.'),
  })
  .meta({ id: 'Job', description: 'A job: what is done to make a video play.' })

/** What the catalogue decided of a job, with what encoding knows of its work; encoding has none before it is handed over. */
export function jobView(job: Job, encoding: EncodingJob | undefined): z.input<typeof JobRecord> {
  return {
    job_id: job.jobId,
    video_id: job.videoId,
    media_id: job.mediaId,
    action: actionWords[job.action] ?? 'new video',
    state: stateWord(job.state, encoding?.state),
    progress: job.progress,
    attempt: encoding?.attempt ?? 0,
    plan: encoding ? planView(encoding) : null,
    renditions: (encoding?.renditions ?? []).map((rendition) => renditionView(rendition, job.state)),
    error: job.code === 0 ? null : { code: job.code, message: job.message },
    time_created: timestampText(job.createTime),
    time_started: timestampText(job.startTime ?? encoding?.startTime),
    time_finished: timestampText(job.finishTime),
  }
}

export const RetriedJob = JobRecord.pick({ job_id: true, video_id: true, media_id: true, action: true }).meta({
  id: 'RetriedJob',
  description: 'A job that was accepted in place of one that failed.',
})

export function retriedView({ jobId, videoId, mediaId, action }: RetryJobResponse): z.input<typeof RetriedJob> {
  return { job_id: jobId, video_id: videoId, media_id: mediaId, action: actionWords[action] ?? 'new video' }
}

const actionWords: Partial<Record<JobAction, 'replace' | 'add rendition'>> = {
  [JobAction.JOB_ACTION_REPLACE]: 'replace',
  [JobAction.JOB_ACTION_ADD_RENDITION]: 'add rendition',
}

const finished: Partial<Record<JobState, State>> = {
  [JobState.JOB_STATE_OK]: 'ok',
  [JobState.JOB_STATE_FAILED]: 'failed',
  [JobState.JOB_STATE_CANCELLED]: 'cancelled',
}

const underWay: Partial<Record<EncodingState, State>> = {
  [EncodingState.JOB_STATE_QUEUED]: 'queued',
  [EncodingState.JOB_STATE_FETCHING]: 'fetching',
  [EncodingState.JOB_STATE_PROBING]: 'probing',
  [EncodingState.JOB_STATE_ENCODING]: 'encoding',
}

/** The catalogue's word ends a job; until then what encoding has finished is still being handed over. */
function stateWord(state: JobState, encoding: EncodingState | undefined): State {
  return finished[state] ?? (encoding === undefined ? 'queued' : (underWay[encoding] ?? 'publishing'))
}

const renditionWords: Partial<Record<RenditionState, (typeof renditionStates)[number]>> = {
  [RenditionState.RENDITION_STATE_ENCODING]: 'encoding',
  [RenditionState.RENDITION_STATE_OK]: 'ok',
  [RenditionState.RENDITION_STATE_FAILED]: 'failed',
}

/** What encoding has finished is not kept when the catalogue gives the job up: for want of room, say. */
function renditionView({ key, state, width, height, bytes, bitrate }: JobRendition, ofJob: JobState) {
  const isGivenUp = ofJob === JobState.JOB_STATE_FAILED || ofJob === JobState.JOB_STATE_CANCELLED
  const word = isGivenUp ? 'failed' : (renditionWords[state] ?? 'waiting')
  return { key, state: word, width, height, bytes: isGivenUp ? 0 : bytes, bitrate: isGivenUp ? 0 : bitrate }
}
