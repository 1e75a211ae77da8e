import { tidy } from '@vitascope/request'
import type { RenditionSet } from '../media/rendition-set.ts'
import {
  CANCELLED,
  clampPercent,
  createFailedStatus,
  createPlayableStatus,
  createProgressStatus,
  type Status,
  toFailureCode,
} from '../media/status.ts'

export type JobStatus = 'queued' | 'running' | 'ok' | 'failed' | 'cancelled'

/** An encode job and its state. */
export interface Job {
  jobId: string
  videoId: string
  mediaId: string
  organisationId: string
  action: 'new_video' | 'replace' | 'add_rendition'
  /** The job whose set gets the rendition of an `add_rendition` job. */
  setJobId: string | undefined
  state: JobStatus
  progress: number
  code: number
  message: string
  createTime: Date
  startTime: Date | undefined
  finishTime: Date | undefined
}

/** The mutable part of a job. */
export type JobState = Pick<Job, 'state' | 'progress' | 'code' | 'message'>

/** The part of a media that a job changes. */
export interface MediaState {
  status: Status
  renditions: RenditionSet | undefined
  /** The set that plays while the first set is being encoded. */
  preview: RenditionSet | undefined
}

export type JobUpdate =
  | { kind: 'progress'; percent: number; sourceMs?: number | undefined }
  | { kind: 'playable'; preview: RenditionSet }
  | { kind: 'published'; renditions: RenditionSet }
  | { kind: 'failed'; code: number; message: string }
  | { kind: 'cancelled'; message: string }

/** Returns whether a job is active and may change its media. A media has at most one active job that makes its set. */
export function isActive({ state }: Pick<Job, 'state'>): boolean {
  return state === 'queued' || state === 'running'
}

/** Returns the state of an active job and of its media after an update. */
export function applyUpdate(job: JobState, media: MediaState, update: JobUpdate): { job: JobState; media: MediaState } {
  switch (update.kind) {
    case 'progress':
      return {
        job: { ...job, state: 'running', progress: Math.max(job.progress, clampPercent(update.percent)) },
        media: { ...media, status: createProgressStatus(media.status, update.percent) },
      }
    case 'playable':
      return {
        job: { ...job, state: 'running' },
        media: {
          ...media,
          status: createProgressStatus(media.status, media.status.progress),
          preview: media.renditions ? undefined : update.preview,
        },
      }
    case 'published':
      return {
        job: { state: 'ok', progress: 100, code: 0, message: '' },
        media: { status: createPlayableStatus(), renditions: update.renditions, preview: undefined },
      }
    case 'failed':
      return applyFailure(job, media, 'failed', toFailureCode(update.code), update.message)
    case 'cancelled':
      return applyFailure(job, media, 'cancelled', CANCELLED, update.message)
  }
}

function applyFailure(job: JobState, media: MediaState, state: 'failed' | 'cancelled', code: number, reason: string) {
  const message = tidy(reason, 1_000)
  return {
    job: { state, progress: job.progress, code, message },
    media: { ...media, preview: undefined, status: createFailedStatus(media.status, code, message, media.renditions !== undefined) },
  }
}
