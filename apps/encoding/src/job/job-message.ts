import { Job as JobMessage, type JobRendition, RenditionState, JobState as StateCode } from '@vitascope/proto/encoding/v1/job'
import { toPlanMessage } from '../task/plan-message.ts'
import type { JobProgress } from './chunk-speed.ts'
import type { Job, JobState } from './job.ts'

const STATE_CODES: Readonly<Record<JobState, StateCode>> = {
  queued: StateCode.JOB_STATE_QUEUED,
  fetching: StateCode.JOB_STATE_FETCHING,
  probing: StateCode.JOB_STATE_PROBING,
  encoding: StateCode.JOB_STATE_ENCODING,
  publishing: StateCode.JOB_STATE_PUBLISHING,
  ok: StateCode.JOB_STATE_OK,
  failed: StateCode.JOB_STATE_FAILED,
  cancelled: StateCode.JOB_STATE_CANCELLED,
}

export function toMessage(job: Job, { chunkProgress, expectedSeconds }: JobProgress): JobMessage {
  return JobMessage.fromPartial({
    jobId: job.jobId,
    mediaId: job.mediaId,
    organisationId: job.organisationId,
    state: STATE_CODES[job.state],
    progress: job.progress,
    attempt: job.attempt,
    ...(job.plan && { plan: toPlanMessage(job.plan) }),
    renditions: toRenditions(job),
    code: job.code,
    message: job.message,
    createTime: job.createTime,
    ...(job.startTime && { startTime: job.startTime }),
    ...(job.finishTime && { finishTime: job.finishTime }),
    chunkProgress,
    ...(expectedSeconds !== undefined && { expectedSeconds }),
  })
}

/**
 * Returns the state of each rendition. One run makes all renditions of a chunk, so they are in the
 * same state.
 */
function toRenditions(job: Job): JobRendition[] {
  const finished = job.result && 'renditions' in job.result ? job.result.renditions : []
  return (job.plan?.renditions ?? []).map(({ key, video }) => {
    const done = finished.find((rendition) => rendition.key === key)
    const { bytes = 0, bitrate = 0, width = video?.width ?? 0, height = video?.height ?? 0 } = done ?? {}
    return { key, state: renditionState(job.state), width, height, bytes, bitrate }
  })
}

function renditionState(state: JobState): RenditionState {
  if (state === 'ok') return RenditionState.RENDITION_STATE_OK
  if (state === 'failed' || state === 'cancelled') return RenditionState.RENDITION_STATE_FAILED
  return state === 'encoding' || state === 'publishing' ? RenditionState.RENDITION_STATE_ENCODING : RenditionState.RENDITION_STATE_WAITING
}
