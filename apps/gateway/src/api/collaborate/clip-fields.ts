import { z } from 'zod'
import { flag, int, text } from '../../server/schema/fields.ts'

const INT32_MAX = 2_147_483_647
const seconds = (description: string, example: number) => int({ min: 0, max: INT32_MAX }, { description, example })
const title = text(255, {}, { description: 'Title of the clip. Free text.', example: 'Too loud' })
const comments = text(2_000, {}, { description: 'Comments on the clip. Free text.', example: 'The music covers the voice.' })
const time_start = seconds('Start in seconds from the beginning of the video.', 3)
const time_finish = seconds(
  'End in seconds from the beginning of the video. It must not be before `time_start` or after the end of the video.',
  7,
)
const millis = (field: string) =>
  int(
    { min: 0, max: 999 },
    { description: `Milliseconds after \`${field}\`. If \`${field}\` is sent without it, it becomes 0.`, example: 480 },
  )
const [time_start_millis, time_finish_millis] = [millis('time_start'), millis('time_finish')]
const type = text(50, { min: 1 }, { description: 'Type of the clip.', example: 'video' })
const preview = flag({ description: 'Marks the clip as a preview.' })
const resolved = flag({ description: 'Marks the comment as one that needs no more work.' })

/** Fields of a new clip. */
export const clipFields = z.strictObject({
  comments: comments.default(''),
  time_start,
  time_finish,
  time_start_millis: time_start_millis.default(0),
  time_finish_millis: time_finish_millis.default(0),
  type: type.default('video'),
  preview: preview.default(false),
  resolved: resolved.default(false),
})

/** Fields of a clip that can be changed. */
export const clipChanges = z.strictObject({
  title: title.optional(),
  comments: comments.optional(),
  time_start: time_start.optional(),
  time_finish: time_finish.optional(),
  time_start_millis: time_start_millis.optional(),
  time_finish_millis: time_finish_millis.optional(),
  type: type.optional(),
  preview: preview.optional(),
  resolved: resolved.optional(),
})

interface Times {
  time_start?: number | undefined
  time_finish?: number | undefined
  time_start_millis?: number | undefined
  time_finish_millis?: number | undefined
}

/** Returns the times of a clip for its message. Absent fields are 0. */
export function toTimes({ time_start = 0, time_finish = 0, time_start_millis = 0, time_finish_millis = 0 }: Times) {
  return { timeStart: time_start, timeFinish: time_finish, timeStartMillis: time_start_millis, timeFinishMillis: time_finish_millis }
}
