import { type FieldError, requireValid } from '@vitascope/errors'
import { applyMask, checkText, isId } from '@vitascope/request'

export interface Slide {
  version: string
  path: string
  thumbnailPath: string
  width: number
  height: number
  /** The second of the video at which the slide appears. Undefined if it is not set. */
  seconds: number | undefined
}

/** The fields of a presentation that users set. */
export interface PresentationFields {
  organisationId: string
  userId: string
  /** Empty if the presentation has no video. */
  videoId: string
  title: string
  description: string
}

/** The processing state of the presentation's files. */
export interface PresentationState {
  state: 'processing' | 'ready' | 'failed'
  /** Percent. */
  progress: number
  /** Failure code of the last file. 0 if it did not fail. */
  code: number
  reason: string
}

/** Slides that are shown with a video. */
export interface Presentation extends PresentationFields {
  presentationId: string
  filename: string
  processing: PresentationState
  slides: Slide[]
  /** The PDF of the first file. Undefined until the file is processed. */
  document: { version: string; path: string } | undefined
  createTime: Date
}

export interface PresentationStatus {
  state: 'processing' | 'awaiting_timings' | 'ok' | 'failed'
  progress: number
  code: number
  reason: string
}

/** The time at which a slide appears. If `seconds` is undefined, the time is removed. */
export interface Timing {
  slide: number
  seconds: number | undefined
}

export const MAX_SLIDES = 1_000
/** One week, the maximum duration of a source. */
const MAX_SECONDS = 604_800

/**
 * Returns the status that callers see:
 *
 *   processing 5…98/2 ──▶ awaiting timings 99/1999 ◀──▶ ok 100/2000, if every slide has its second
 *            └──▶ failed/4xxx or 5xxx, with the progress reached
 *
 * If a file fails and the presentation has slides, the status stays and the reason is added. A
 * presentation without slides is never ok.
 */
export function toStatus({ processing, slides }: Pick<Presentation, 'processing' | 'slides'>): PresentationStatus {
  const { state, progress, code, reason } = processing
  if (state === 'processing') return { state, progress, code: 2, reason: '' }
  if (state === 'failed') return { state, progress, code, reason }
  const isTimed = slides.length > 0 && slides.every(({ seconds }) => seconds !== undefined)
  return isTimed ? { state: 'ok', progress: 100, code: 2000, reason } : { state: 'awaiting_timings', progress: 99, code: 1999, reason }
}

/** Returns the public view of the presentation. The reason of a failure is only visible to its organisation. */
export function toPublicView(presentation: Presentation): Presentation {
  return { ...presentation, processing: { ...presentation.processing, reason: '' } }
}

const PATHS = new Map<string, keyof PresentationFields>([
  ['title', 'title'],
  ['description', 'description'],
  ['user_id', 'userId'],
  ['organisation_id', 'organisationId'],
  ['video_id', 'videoId'],
])

/**
 * Returns the presentation `current` with the masked fields of `input` and with the timings. Throws
 * `invalid` with every invalid field.
 */
export function mergePresentation(
  current: Presentation,
  input: PresentationFields,
  mask: readonly string[],
  timings: readonly Timing[],
): Presentation {
  const { fields, problems } = applyMask<PresentationFields, Presentation>(current, input, mask, PATHS)
  requireValid([...problems, ...checkPresentation(fields), ...checkTimings(timings, current.slides.length)])
  const seconds = new Map(timings.map((timing) => [timing.slide, timing.seconds]))
  const slides = current.slides.map((slide, index) => (seconds.has(index + 1) ? { ...slide, seconds: seconds.get(index + 1) } : slide))
  return { ...fields, slides }
}

export function checkPresentation({ title, description, userId, videoId }: PresentationFields): FieldError[] {
  return [
    ...checkText('title', title, { min: 1, max: 255 }),
    ...checkText('description', description, { max: 5_000 }),
    ...(isId(userId) ? [] : [{ field: 'user_id', message: 'must be the id of a user' }]),
    ...(videoId === '' || isId(videoId) ? [] : [{ field: 'video_id', message: 'must be an id, or empty for none' }]),
  ]
}

function checkTimings(timings: readonly Timing[], slides: number): FieldError[] {
  if (timings.length > MAX_SLIDES) return [{ field: 'slides', message: `must be at most ${MAX_SLIDES} slides` }]
  return timings.flatMap(({ slide, seconds }) => {
    const field = `slides.${slide}`
    if (!Number.isInteger(slide) || slide < 1 || slide > slides)
      return [{ field, message: `is not a slide; the presentation has ${slides}` }]
    const isValid = seconds === undefined || (Number.isInteger(seconds) && seconds >= 0 && seconds <= MAX_SECONDS)
    return isValid ? [] : [{ field: `${field}.seconds`, message: `must be from 0 to ${MAX_SECONDS}` }]
  })
}
