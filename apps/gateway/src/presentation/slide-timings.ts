import type { SlideTiming } from '@vitascope/proto/catalogue/v1/presentation'
import { z } from 'zod'
import { clearable, int, map } from '../fields.ts'

const MOST_SLIDES = 1_000
const A_WEEK = 604_800

/** `{"1": {"seconds": 0}, …}`: the slides that are named change, the others stay. */
export const slideTimings = map(
  z.strictObject({ seconds: clearable(int({ min: 0, max: A_WEEK }, { description: 'Null takes it away.', example: 0 })) }),
  { max: MOST_SLIDES, key: /^[1-9]\d{0,3}$/, keyMessage: 'must be the number of a slide' },
  { description: 'When slides appear, in seconds of the video, by slide number.', example: { '1': { seconds: 0 }, '2': { seconds: 42 } } },
)

export function toTimings(sent: z.output<typeof slideTimings> | undefined): SlideTiming[] {
  return Object.entries(sent ?? {}).map(([number, { seconds }]) => ({ slide: Number(number), seconds: seconds ?? undefined }))
}
