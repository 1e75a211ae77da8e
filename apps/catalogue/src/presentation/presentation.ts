import { type FieldError, invalid } from '@vitascope/errors'
import { parseId } from '../id/id.ts'
import { checkText } from '../text.ts'

export interface Slide {
  version: string
  path: string
  thumbnailPath: string
  width: number
  height: number
  /** The second of the video at which it appears; undefined until it is told. */
  seconds: number | undefined
}

/** What people change of a presentation. */
export interface PresentationFields {
  organisationId: string
  userId: string
  /** Empty for none. */
  videoId: string
  title: string
  description: string
}

/** What its files came to. */
export interface Standing {
  state: 'processing' | 'ready' | 'failed'
  /** Percent. */
  progress: number
  /** Why the last file came to nothing; 0 when it did not. */
  code: number
  reason: string
}

/** Slides beside a video. */
export interface Presentation extends PresentationFields {
  presentationId: string
  filename: string
  standing: Standing
  slides: Slide[]
  /** The PDF of its first file; undefined before. */
  document: { version: string; path: string } | undefined
  createTime: Date
}

export interface PresentationStatus {
  state: 'processing' | 'awaiting_timings' | 'ok' | 'failed'
  progress: number
  code: number
  reason: string
}

/** When one slide appears; undefined takes its second away. */
export interface Timing {
  slide: number
  seconds: number | undefined
}

export const MOST_SLIDES = 1_000
/** A week: the longest that a source may be made to last. */
const LATEST_SECOND = 604_800

/**
 * What callers are shown:
 *
 *   processing 5…98/2 ──▶ awaiting timings 99/1999 ◀──▶ ok 100/2000, once every slide has its second
 *            └──▶ failed/4002 or 5xxx, the progress as reached; with slides from before it is as it was, and the reason stands
 *
 * Without slides there is nothing that could be ok.
 */
export function statusOf({ standing, slides }: Pick<Presentation, 'standing' | 'slides'>): PresentationStatus {
  const { state, progress, code, reason } = standing
  if (state === 'processing') return { state, progress, code: 2, reason: '' }
  if (state === 'failed') return { state, progress, code, reason }
  const isTimed = slides.length > 0 && slides.every(({ seconds }) => seconds !== undefined)
  return isTimed ? { state: 'ok', progress: 100, code: 2000, reason } : { state: 'awaiting_timings', progress: 99, code: 1999, reason }
}

/** The presentation as anybody may see it; why a file came to nothing is its organisation’s. */
export function asPublic(presentation: Presentation): Presentation {
  return { ...presentation, standing: { ...presentation.standing, reason: '' } }
}

const PATHS = new Map<string, keyof PresentationFields>([
  ['title', 'title'],
  ['description', 'description'],
  ['user_id', 'userId'],
  ['organisation_id', 'organisationId'],
  ['video_id', 'videoId'],
])

/** The presentation with the fields that the mask names taken from `given`, and the given timings; refuses with every bad field at once. */
export function mergePresentation(
  now: Presentation,
  given: PresentationFields,
  mask: readonly string[],
  timings: readonly Timing[],
): Presentation {
  const unknown = mask
    .filter((path) => !PATHS.has(path))
    .map((path) => ({ field: 'update_mask', message: `names no field: ${path.slice(0, 100)}` }))
  const keys = mask.flatMap((path) => PATHS.get(path) ?? [])
  const merged = { ...now, ...Object.fromEntries(keys.map((key) => [key, given[key]])) }
  const problems = [...unknown, ...checkPresentation(merged), ...checkTimings(timings, now.slides.length)]
  if (problems.length > 0) throw invalid(problems)
  const seconds = new Map(timings.map((timing) => [timing.slide, timing.seconds]))
  const slides = now.slides.map((slide, index) => (seconds.has(index + 1) ? { ...slide, seconds: seconds.get(index + 1) } : slide))
  return { ...merged, slides }
}

export function checkPresentation({ title, description, userId, videoId }: PresentationFields): FieldError[] {
  return [
    ...checkText('title', title, { min: 1, max: 255 }),
    ...checkText('description', description, { max: 5_000 }),
    ...(parseId(userId) ? [] : [{ field: 'user_id', message: 'must be the id of a user' }]),
    ...(videoId === '' || parseId(videoId) ? [] : [{ field: 'video_id', message: 'must be an id, or empty for none' }]),
  ]
}

function checkTimings(timings: readonly Timing[], slides: number): FieldError[] {
  if (timings.length > MOST_SLIDES) return [{ field: 'slides', message: `must be at most ${MOST_SLIDES} slides` }]
  return timings.flatMap(({ slide, seconds }) => {
    const field = `slides.${slide}`
    if (!Number.isInteger(slide) || slide < 1 || slide > slides) return [{ field, message: `names no slide: there are ${slides}` }]
    const isGood = seconds === undefined || (Number.isInteger(seconds) && seconds >= 0 && seconds <= LATEST_SECOND)
    return isGood ? [] : [{ field: `${field}.seconds`, message: `must be from 0 to ${LATEST_SECOND}` }]
  })
}
