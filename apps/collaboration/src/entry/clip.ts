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
  /** Seconds. */
  timeStart: number
  timeFinish: number
  type: string
  preview: boolean
}

/**
 * Maximum number per entry. With texts of maximum length, an entry has about 1.9 MB, and two of
 * them fit into one message.
 */
export const MAX_CLIPS = 200
const INT32_MAX = 2_147_483_647

export const CHANGEABLE = ['title', 'comments', 'time_start', 'time_finish', 'type', 'preview'] as const
export type ClipField = (typeof CHANGEABLE)[number]

/**
 * Returns the clip. Throws `invalid` with every invalid field. Times are only checked if one of
 * them is in `named`, because the video may have become shorter. `durationSeconds` is undefined if
 * unknown.
 */
export function checkClip(clip: ClipFields, named: ReadonlySet<ClipField>, durationSeconds: number | undefined): ClipFields {
  const problems = [
    ...checkText('title', clip.title, { max: 255 }),
    ...checkText('comments', clip.comments, { max: 2_000 }),
    ...checkText('type', clip.type, { max: 50, blank: false }),
    ...(named.has('time_start') || named.has('time_finish') ? checkTimes(clip, named, durationSeconds) : []),
  ]
  requireValid(problems)
  return clip
}

function checkTimes(
  { timeStart, timeFinish }: ClipFields,
  named: ReadonlySet<ClipField>,
  durationSeconds: number | undefined,
): FieldError[] {
  const bad = (field: string, seconds: number): FieldError[] =>
    Number.isInteger(seconds) && seconds >= 0 && seconds <= INT32_MAX
      ? []
      : [{ field, message: `must be an integer from 0 to ${INT32_MAX}` }]
  const problems = [...bad('time_start', timeStart), ...bad('time_finish', timeFinish)]
  if (problems.length > 0) return problems
  const finishNamed = named.has('time_finish')
  if (timeStart > timeFinish) {
    return [
      finishNamed
        ? { field: 'time_finish', message: `must not be before time_start (${timeStart})` }
        : { field: 'time_start', message: `must not be after time_finish (${timeFinish})` },
    ]
  }
  if (durationSeconds === undefined || timeFinish <= durationSeconds) return []
  const message = `must not be after the end of the video (${Math.round(durationSeconds * 1_000) / 1_000} seconds)`
  return [{ field: finishNamed ? 'time_finish' : 'time_start', message }]
}

/** Returns the fields with the masked ones replaced by those of `given`. */
export function mergeClip(now: ClipFields, given: ClipFields, named: ReadonlySet<ClipField>): ClipFields {
  return {
    title: named.has('title') ? given.title : now.title,
    comments: named.has('comments') ? given.comments : now.comments,
    timeStart: named.has('time_start') ? given.timeStart : now.timeStart,
    timeFinish: named.has('time_finish') ? given.timeFinish : now.timeFinish,
    type: named.has('type') ? given.type : now.type,
    preview: named.has('preview') ? given.preview : now.preview,
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
    const message = `must name every clip of the entry once, and nothing else: ${clips.length} ${clips.length === 1 ? 'id' : 'ids'}`
    throw invalid([{ field: 'clip_ids', message }])
  }
  return ordered.map((clip, position) => ({ ...clip, position }))
}

export function clipsFull(): DomainError {
  return new DomainError('failed_precondition', 'CLIPS_FULL', `an entry has at most ${MAX_CLIPS} clips; delete one first`)
}
