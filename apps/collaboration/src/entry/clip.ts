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
  type: string
  preview: boolean
}

/**
 * Maximum number of clips per entry. With texts of maximum length, an entry has about 1.9 MB, and two
 * of them fit into one message.
 */
export const MAX_CLIPS = 200
const INT32_MAX = 2_147_483_647

export const CHANGEABLE = ['title', 'comments', 'time_start', 'time_finish', 'type', 'preview'] as const
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
    ...(mask.has('time_start') || mask.has('time_finish') ? checkTimes(clip, mask, durationSeconds) : []),
  ]
  requireValid(problems)
  return clip
}

function checkTimes(
  { timeStart, timeFinish }: ClipFields,
  mask: ReadonlySet<ClipField>,
  durationSeconds: number | undefined,
): FieldError[] {
  const checkTime = (field: string, seconds: number): FieldError[] =>
    Number.isInteger(seconds) && seconds >= 0 && seconds <= INT32_MAX
      ? []
      : [{ field, message: `must be an integer from 0 to ${INT32_MAX}` }]
  const problems = [...checkTime('time_start', timeStart), ...checkTime('time_finish', timeFinish)]
  if (problems.length > 0) return problems
  const isFinishChanged = mask.has('time_finish')
  if (timeStart > timeFinish) {
    return [
      isFinishChanged
        ? { field: 'time_finish', message: `must not be before time_start (${timeStart})` }
        : { field: 'time_start', message: `must not be after time_finish (${timeFinish})` },
    ]
  }
  if (durationSeconds === undefined || timeFinish <= durationSeconds) return []
  const message = `must not be after the end of the video (${Math.round(durationSeconds * 1_000) / 1_000} seconds)`
  return [{ field: isFinishChanged ? 'time_finish' : 'time_start', message }]
}

/** Returns the fields `now` in which the masked fields are replaced with the values of `input`. */
export function mergeClip(now: ClipFields, input: ClipFields, mask: ReadonlySet<ClipField>): ClipFields {
  return {
    title: mask.has('title') ? input.title : now.title,
    comments: mask.has('comments') ? input.comments : now.comments,
    timeStart: mask.has('time_start') ? input.timeStart : now.timeStart,
    timeFinish: mask.has('time_finish') ? input.timeFinish : now.timeFinish,
    type: mask.has('type') ? input.type : now.type,
    preview: mask.has('preview') ? input.preview : now.preview,
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
