import type { SlideTiming } from '@vitascope/proto/catalogue/v1/presentation'
import { z } from 'zod'
import { clearable, int, map } from '../../server/schema/fields.ts'

const MAX_SLIDES = 1_000
/** A week, the maximum time in a video. */
const MAX_SECONDS = 604_800

/** Timings such as `{"1": {"seconds": 0}, …}`. Slides that are not named keep their timing. */
export const slideTimings = map(
  z.strictObject({
    seconds: clearable(int({ min: 0, max: MAX_SECONDS }, { description: 'Time in seconds. null removes it.', example: 0 })),
  }),
  { max: MAX_SLIDES, key: /^[1-9]\d{0,3}$/, keyMessage: 'must be the number of a slide' },
  {
    description: 'Times at which slides appear, in seconds of the video, by slide number.',
    example: { '1': { seconds: 0 }, '2': { seconds: 42 } },
  },
)

export function toTimings(timings: z.output<typeof slideTimings> | undefined): SlideTiming[] {
  return Object.entries(timings ?? {}).map(([number, { seconds }]) => ({ slide: Number(number), seconds: seconds ?? undefined }))
}
