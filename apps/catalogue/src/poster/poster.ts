import { tidy } from '@vitascope/request'
import { toFailureCode } from '../publishing/media/status.ts'

/** Poster of a video: the state of the last job, and the images of the last successful one. */
export interface Poster {
  state: PosterState
  code: number
  reason: string
  /** The paths of `poster` and `thumbnail` are relative to the folder of the video's files. Undefined before the first success. */
  poster: PosterImage | undefined
  thumbnail: PosterImage | undefined
}

export interface PosterImage {
  path: string
  width: number
  height: number
}

export type PosterState = 'processing' | 'ok' | 'failed'

/** The images that one job made. The files of a set never change. */
export interface PosterSet {
  jobId: string
  prefix: string
  /** Their paths are below the prefix. */
  poster: PosterImage
  thumbnail: PosterImage
}

/** Source of a poster: an image at a URL, or a frame of the video. */
export type PosterSource = { kind: 'url'; url: string } | { kind: 'frame'; atSeconds: number }

export type PosterUpdate = { kind: 'progress' } | { kind: 'created'; set: PosterSet } | { kind: 'failed'; code: number; message: string }

/** State of the job of the last picture. */
export type PosterJobState = 'queued' | 'running' | 'ok' | 'failed'

export interface PosterJob {
  state: PosterJobState
  code: number
  message: string
}

export function isActive({ state }: Pick<PosterJob, 'state'>): boolean {
  return state === 'queued' || state === 'running'
}

/** Returns the state of an active job after an update. */
export function applyPosterUpdate(update: PosterUpdate): PosterJob {
  switch (update.kind) {
    case 'progress':
      return { state: 'running', code: 0, message: '' }
    case 'created':
      return { state: 'ok', code: 0, message: '' }
    case 'failed':
      return { state: 'failed', code: toFailureCode(update.code), message: tidy(update.message, 1_000) }
  }
}

/** Columns of a picture, as JSON. The images are null before the first picture is converted. */
export interface PosterRow {
  state: PosterJobState
  code: number
  message: string
  setJobId: string | null
  images: Pick<PosterSet, 'poster' | 'thumbnail'> | null
}

/** SQL that returns a `PosterRow` of a video `v`, or null. */
export const POSTER_OF_VIDEO = `(select json_build_object('state', p.state, 'code', p.code, 'message', p.message, 'setJobId', p.set_job_id::text,
  'images', p.images) from poster p where p.video_id = v.video_id)`

export function toPoster(row: PosterRow): Poster {
  const { state, code, message, setJobId, images } = row
  const toImage = (image: PosterImage | undefined) => image && { ...image, path: `posters/${setJobId}/${image.path}` }
  return {
    state: isActive({ state }) ? 'processing' : state === 'ok' ? 'ok' : 'failed',
    code,
    reason: message,
    poster: toImage(images?.poster),
    thumbnail: toImage(images?.thumbnail),
  }
}
