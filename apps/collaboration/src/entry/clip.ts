import { DomainError, type FieldError, invalid, requireValid } from '@vitascope/errors'
import { checkText } from '@vitascope/request'

/** A comment on a part of a video. */
export interface Clip extends ClipFields {
  clipId: string
  collaborationId: string
  /** Position within the entry, from 0. */
  position: number
  createTime: Date
}

export interface ClipFields {
  title: string
  comments: string
  /** Start and finish in seconds from the start of the video. */
  timeStart: number
  timeFinish: number
  /** Milliseconds after the start and the finish, 0 to 999. */
  timeStartMillis: number
  timeFinishMillis: number
  type: string
  preview: boolean
  /** True if the comment needs no more work. */
  resolved: boolean
}

/**
 * Maximum number of clips per entry. With texts of maximum length, an entry has about 1.9 MB, and two
 * of them fit into one message.
 */
export const MAX_CLIPS = 200
const INT32_MAX = 2_147_483_647
const MAX_MILLIS = 999

const TIMES = ['time_start', 'time_start_millis', 'time_finish', 'time_finish_millis'] as const
export const CHANGEABLE = ['title', 'comments', ...TIMES, 'type', 'preview', 'resolved'] as const
export type ClipField = (typeof CHANGEABLE)[number]

/**
 * Returns the clip. Throws `invalid` with every invalid field. Times are only checked if one of
 * them is in `mask`, because the video may have become shorter. `durationSeconds` is undefined if
 * the duration is unknown.
 */
export function checkClip(clip: ClipFields, mask: ReadonlySet<ClipField>, durationSeconds: number | undefined): ClipFields {
  const problems = [
    ...checkText('title', clip.title, { max: 255 }),
    ...checkText('comments', clip.comments, { max: 2_000 }),
    ...checkText('type', clip.type, { max: 50, blank: false }),
    ...(TIMES.some((field) => mask.has(field)) ? checkTimes(clip, mask, durationSeconds) : []),
  ]
  requireValid(problems)
  return clip
}

function checkTimes(
  { timeStart, timeStartMillis, timeFinish, timeFinishMillis }: ClipFields,
  mask: ReadonlySet<ClipField>,
  durationSeconds: number | undefined,
): FieldError[] {
  const checkTime = (field: string, value: number, max: number): FieldError[] =>
    Number.isInteger(value) && value >= 0 && value <= max ? [] : [{ field, message: `must be an integer from 0 to ${max}` }]
  const problems = [
    ...checkTime('time_start', timeStart, INT32_MAX),
    ...checkTime('time_start_millis', timeStartMillis, MAX_MILLIS),
    ...checkTime('time_finish', timeFinish, INT32_MAX),
    ...checkTime('time_finish_millis', timeFinishMillis, MAX_MILLIS),
  ]
  if (problems.length > 0) return problems
  const [startMs, finishMs] = [timeStart * 1_000 + timeStartMillis, timeFinish * 1_000 + timeFinishMillis]
  const isFinishChanged = mask.has('time_finish') || mask.has('time_finish_millis')
  if (startMs > finishMs) {
    return [
      isFinishChanged
        ? { field: 'time_finish', message: `must not be before time_start (${startMs / 1_000})` }
        : { field: 'time_start', message: `must not be after time_finish (${finishMs / 1_000})` },
    ]
  }
  if (durationSeconds === undefined || finishMs <= durationSeconds * 1_000) return []
  const message = `must not be after the end of the video (${Math.round(durationSeconds * 1_000) / 1_000} seconds)`
  return [{ field: isFinishChanged ? 'time_finish' : 'time_start', message }]
}

/**
 * Returns the fields `current` in which the masked fields are replaced with the values of `input`. Times in whole
 * seconds replace the milliseconds too, so that callers without milliseconds set exact times.
 */
export function mergeClip(current: ClipFields, input: ClipFields, mask: ReadonlySet<ClipField>): ClipFields {
  const startMillis = mask.has('time_start') ? 0 : current.timeStartMillis
  const finishMillis = mask.has('time_finish') ? 0 : current.timeFinishMillis
  return {
    title: mask.has('title') ? input.title : current.title,
    comments: mask.has('comments') ? input.comments : current.comments,
    timeStart: mask.has('time_start') ? input.timeStart : current.timeStart,
    timeFinish: mask.has('time_finish') ? input.timeFinish : current.timeFinish,
    timeStartMillis: mask.has('time_start_millis') ? input.timeStartMillis : startMillis,
    timeFinishMillis: mask.has('time_finish_millis') ? input.timeFinishMillis : finishMillis,
    type: mask.has('type') ? input.type : current.type,
    preview: mask.has('preview') ? input.preview : current.preview,
    resolved: mask.has('resolved') ? input.resolved : current.resolved,
  }
}

/**
 * Returns the clips in the order of the ids, with new positions. Throws `invalid` if the ids are
 * not a permutation of the clips.
 */
export function orderClips(clips: readonly Clip[], clipIds: readonly string[]): Clip[] {
  const byId = new Map(clips.map((clip) => [clip.clipId, clip]))
  const ordered = [...new Set(clipIds)].flatMap((clipId) => byId.get(clipId) ?? [])
  if (clipIds.length !== clips.length || ordered.length !== clips.length) {
    const message = `must contain the id of every clip of the entry exactly once: ${clips.length} ${clips.length === 1 ? 'id' : 'ids'}`
    throw invalid([{ field: 'clip_ids', message }])
  }
  return ordered.map((clip, position) => ({ ...clip, position }))
}

export function clipsFull(): DomainError {
  return new DomainError('failed_precondition', 'CLIPS_FULL', `an entry has at most ${MAX_CLIPS} clips; delete one first`)
}
