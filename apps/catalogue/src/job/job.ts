import type { RenditionSet } from '../media/rendition-set.ts'
import { CANCELLED, failureCode, givenUp, playable, progressed, type Status, workPercent } from '../media/status.ts'
import { tidy } from '../text.ts'

export type JobState = 'queued' | 'running' | 'ok' | 'failed' | 'cancelled'

/** What was asked of encoding, and how it stands. */
export interface Job {
  jobId: string
  videoId: string
  mediaId: string
  organisationId: string
  action: 'new_video' | 'replace' | 'add_rendition'
  /** Of one that adds a rendition: the job that made the set to which it is added. */
  setJobId: string | undefined
  state: JobState
  progress: number
  code: number
  message: string
  createTime: Date
  startTime: Date | undefined
  finishTime: Date | undefined
}

/** What of a job moves. */
export type JobStanding = Pick<Job, 'state' | 'progress' | 'code' | 'message'>

/** What of a media a job moves. */
export interface MediaStanding {
  status: Status
  renditions: RenditionSet | undefined
  /** What plays while the first set is being made. */
  early: RenditionSet | undefined
}

export type News =
  | { kind: 'progress'; percent: number }
  | { kind: 'playable'; early: RenditionSet }
  | { kind: 'published'; renditions: RenditionSet }
  | { kind: 'failed'; code: number; message: string }
  | { kind: 'cancelled'; message: string }

/** A job that stands may change its media; of those that make its set there is at most one. */
export function stands({ state }: Pick<Job, 'state'>): boolean {
  return state === 'queued' || state === 'running'
}

/** What news makes of a job that stands, and of its media. */
export function settle(job: JobStanding, media: MediaStanding, news: News): { job: JobStanding; media: MediaStanding } {
  switch (news.kind) {
    case 'progress':
      return {
        job: { ...job, state: 'running', progress: Math.max(job.progress, workPercent(news.percent)) },
        media: { ...media, status: progressed(media.status, news.percent) },
      }
    case 'playable':
      return {
        job: { ...job, state: 'running' },
        media: { ...media, status: progressed(media.status, media.status.progress), early: media.renditions ? undefined : news.early },
      }
    case 'published':
      return {
        job: { state: 'ok', progress: 100, code: 0, message: '' },
        media: { status: playable(), renditions: news.renditions, early: undefined },
      }
    case 'failed':
      return givenUpBy(job, media, 'failed', failureCode(news.code), news.message)
    case 'cancelled':
      return givenUpBy(job, media, 'cancelled', CANCELLED, news.message)
  }
}

function givenUpBy(job: JobStanding, media: MediaStanding, state: 'failed' | 'cancelled', code: number, reason: string) {
  const message = tidy(reason, 1_000)
  return {
    job: { state, progress: job.progress, code, message },
    media: { ...media, early: undefined, status: givenUp(media.status, code, message, media.renditions !== undefined) },
  }
}
