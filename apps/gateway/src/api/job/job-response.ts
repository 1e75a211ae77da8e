import { type Job, JobAction, JobState, type RetryJobResponse } from '@vitascope/proto/catalogue/v1/job'
import { type Job as EncodingJob, JobState as EncodingState, type JobRendition, RenditionState } from '@vitascope/proto/encoding/v1/job'
import { z } from 'zod'
import { formatOptionalTimestamp, schema } from '../../server/schema/response-format.ts'
import { PlanResponse, planResponse } from './plan-response.ts'

const states = ['queued', 'fetching', 'probing', 'encoding', 'publishing', 'ok', 'failed', 'cancelled'] as const
type State = (typeof states)[number]

const renditionStates = ['waiting', 'encoding', 'ok', 'failed'] as const

export const JobResponse = z
  .object({
    job_id: schema.id('job'),
    video_id: schema.id('video'),
    media_id: schema.id('media'),
    action: z.enum(['new video', 'replace', 'add rendition']).meta({ description: 'What the job is for.', example: 'new video' }),
    state: z.enum(states).meta({ description: 'State of the job.', example: 'encoding' }),
    progress: schema.int('Progress in percent. It does not decrease.', 57),
    attempt: schema.int('Number of attempts so far: 0 before the first, at most 3.', 1),
    plan: PlanResponse.nullable().meta({ description: 'Ladder and chunks. null before the job is planned.' }),
    renditions: z
      .array(
        z.object({
          key: schema.text('Key of the rendition in `uri.http` of the video.', 'h264_1200'),
          state: z.enum(renditionStates).meta({ description: 'State of the rendition.', example: 'encoding' }),
          width: schema.int('Width in pixels. 0 if there is no picture.', 1280),
          height: schema.int('Height in pixels. 0 if there is no picture.', 720),
          bytes: schema.int('Size of the file in bytes. 0 until it is complete.', 0),
          bitrate: schema.int('Average rate in bit/s. 0 until the file is complete.', 0),
        }),
      )
      .meta({ description: 'Renditions by increasing rate. Empty before the job is planned.' }),
    error: z
      .object({
        code: schema.int('Error code. 4001 to 4005: error in the source. 5xxx: error of the platform.', 4001),
        message: schema.text('Reason in plain text.', 'the file is not a video'),
      })
      .nullable()
      .meta({ description: 'Error of the job. null unless it failed or was cancelled.', example: null }),
    time_created: schema.timestamp('Time at which the job was accepted.'),
    time_started: schema.timestamp('Time at which work on the job started. Empty before.'),
    time_finished: schema.timestamp('Time at which the job ended. Empty before.').meta({ example: '' }),
  })
  .meta({ id: 'Job', description: 'A job: the encoding of a source into the files of a video.' })

const listedStates = ['queued', 'running', 'ok', 'failed', 'cancelled'] as const
export type ListedState = (typeof listedStates)[number]

/** Names of states of listed jobs. `active` selects those that have not ended. */
export const STATE_FILTERS = ['active', ...listedStates] as const

/** A job without its part in encoding. */
export const ListedJobResponse = JobResponse.pick({
  job_id: true,
  video_id: true,
  media_id: true,
  action: true,
  progress: true,
  error: true,
})
  .extend({
    organisation_id: schema.id('organisation'),
    state: z.enum(listedStates).meta({ description: 'State of the job. `running` includes all steps of the work.', example: 'running' }),
    time_created: JobResponse.shape.time_created,
    time_started: JobResponse.shape.time_started,
    time_finished: JobResponse.shape.time_finished,
  })
  .meta({ id: 'ListedJob', description: 'A job in a list.' })

export function listedJobResponse(job: Job): z.input<typeof ListedJobResponse> {
  const { job_id, video_id, media_id, action, progress, error, time_created, time_started, time_finished } = jobResponse(job, undefined)
  const state = Object.entries(STATES_OF_WORDS).find(([, value]) => value === job.state)?.[0] as ListedState | undefined
  return {
    ...{ job_id, video_id, media_id, organisation_id: job.organisationId, action },
    ...{ state: state ?? 'queued', progress, error, time_created, time_started, time_finished },
  }
}

/** Returns the states that a filter selects. */
export function toJobStates(filter: (typeof STATE_FILTERS)[number] | undefined): JobState[] {
  if (filter === undefined) return []
  return filter === 'active' ? [JobState.JOB_STATE_QUEUED, JobState.JOB_STATE_RUNNING] : [STATES_OF_WORDS[filter]]
}

const STATES_OF_WORDS: Readonly<Record<ListedState, JobState>> = {
  queued: JobState.JOB_STATE_QUEUED,
  running: JobState.JOB_STATE_RUNNING,
  ok: JobState.JOB_STATE_OK,
  failed: JobState.JOB_STATE_FAILED,
  cancelled: JobState.JOB_STATE_CANCELLED,
}

/**
 * Combines the catalogue's job with encoding's part, which is undefined until the job was sent to
 * encoding.
 */
export function jobResponse(job: Job, encoding: EncodingJob | undefined): z.input<typeof JobResponse> {
  return {
    job_id: job.jobId,
    video_id: job.videoId,
    media_id: job.mediaId,
    action: actionWords[job.action] ?? 'new video',
    state: stateWord(job.state, encoding?.state),
    progress: job.progress,
    attempt: encoding?.attempt ?? 0,
    plan: encoding ? planResponse(encoding) : null,
    renditions: (encoding?.renditions ?? []).map((rendition) => renditionResponse(rendition, job.state)),
    error: job.code === 0 ? null : { code: job.code, message: job.message },
    time_created: formatOptionalTimestamp(job.createTime),
    time_started: formatOptionalTimestamp(job.startTime ?? encoding?.startTime),
    time_finished: formatOptionalTimestamp(job.finishTime),
  }
}

export const RetriedJobResponse = JobResponse.pick({ job_id: true, video_id: true, media_id: true, action: true }).meta({
  id: 'RetriedJob',
  description: 'A job that was accepted in place of a failed job.',
})

export function retriedJobResponse({ jobId, videoId, mediaId, action }: RetryJobResponse): z.input<typeof RetriedJobResponse> {
  return { job_id: jobId, video_id: videoId, media_id: mediaId, action: actionWords[action] ?? 'new video' }
}

const actionWords: Partial<Record<JobAction, 'replace' | 'add rendition'>> = {
  [JobAction.JOB_ACTION_REPLACE]: 'replace',
  [JobAction.JOB_ACTION_ADD_RENDITION]: 'add rendition',
}

const finalStates: Partial<Record<JobState, State>> = {
  [JobState.JOB_STATE_OK]: 'ok',
  [JobState.JOB_STATE_FAILED]: 'failed',
  [JobState.JOB_STATE_CANCELLED]: 'cancelled',
}

const activeStates: Partial<Record<EncodingState, State>> = {
  [EncodingState.JOB_STATE_QUEUED]: 'queued',
  [EncodingState.JOB_STATE_FETCHING]: 'fetching',
  [EncodingState.JOB_STATE_PROBING]: 'probing',
  [EncodingState.JOB_STATE_ENCODING]: 'encoding',
}

/**
 * The catalogue decides when a job has ended. Until then, a job that encoding has finished is still
 * being published.
 */
function stateWord(state: JobState, encoding: EncodingState | undefined): State {
  return finalStates[state] ?? (encoding === undefined ? 'queued' : (activeStates[encoding] ?? 'publishing'))
}

const renditionWords: Partial<Record<RenditionState, (typeof renditionStates)[number]>> = {
  [RenditionState.RENDITION_STATE_ENCODING]: 'encoding',
  [RenditionState.RENDITION_STATE_OK]: 'ok',
  [RenditionState.RENDITION_STATE_FAILED]: 'failed',
}

/**
 * Finished renditions are discarded if the catalogue fails the job, for example for a lack of
 * quota.
 */
function renditionResponse({ key, state, width, height, bytes, bitrate }: JobRendition, ofJob: JobState) {
  const isDiscarded = ofJob === JobState.JOB_STATE_FAILED || ofJob === JobState.JOB_STATE_CANCELLED
  const word = isDiscarded ? 'failed' : (renditionWords[state] ?? 'waiting')
  return { key, state: word, width, height, bytes: isDiscarded ? 0 : bytes, bitrate: isDiscarded ? 0 : bitrate }
}
