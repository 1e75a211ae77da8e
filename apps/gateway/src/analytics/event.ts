import { type Event, EventType } from '@vitascope/proto/analytics/v1/event'
import { z } from 'zod'
import { field, problem, refuse } from '../field.ts'
import { decimal, int, list, oneOf, type Shown, text } from '../fields.ts'

/** What is beyond these is of no player. */
const mostIntervals = 1_000
const longestStartMs = 3_600_000
const mostStalls = 1_000_000
const longestStallMs = 86_400_000

/** Its value is judged with the event: what is negative or inverted rejects that event alone. */
function seconds(shown: Shown) {
  const sentence = 'must be a number of seconds'
  return field(
    (value) => {
      const number = typeof value === 'string' && /^-?\d{1,16}(\.\d{1,20})?$/.test(value) ? Number(value) : value
      return typeof number === 'number' && Number.isFinite(number) ? number : refuse(sentence)
    },
    z.number(problem(sentence)).meta(shown),
  )
}

const interval = z
  .tuple([seconds({}), seconds({})], problem('must be a pair of seconds: [from, to]'))
  .meta({ description: 'From and to, half-open, in seconds.', example: [0, 12.5] })
const intervals = (description: string) => list(interval, { max: mostIntervals }, { description, example: [[0, 12.5]] })

/** A JSON number is taken for its digits: who sends one that is no video's is told so like everybody else. */
const videoId = field(
  (value) => (typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value),
  text(300, { min: 1 }, { description: 'Id of the video; an unknown one rejects the event.', example: '42' }),
)

const language = (description: string) => text(35, {}, { description, example: 'en' })

const qoe = z.strictObject(
  {
    startup_ms: decimal({ min: 0, max: longestStartMs }, { description: 'From the wish to play to the first picture.' }).optional(),
    stalls: int({ min: 0, max: mostStalls }, { description: 'Times that the picture stood still for want of bytes.' }).optional(),
    stalled_ms: decimal({ min: 0, max: longestStallMs }, { description: 'Milliseconds that it stood still.' }).optional(),
    error: text(100, {}, { description: 'What ended the view.', example: 'network' }).optional(),
  },
  problem('must be an object'),
)

const types = {
  load: EventType.EVENT_TYPE_LOAD,
  play: EventType.EVENT_TYPE_PLAY,
  progress: EventType.EVENT_TYPE_PROGRESS,
  ended: EventType.EVENT_TYPE_ENDED,
} as const

/** One event as players send it. */
export const PlayerEvent = z.strictObject({
  video_id: videoId,
  view_id: text(
    100,
    { min: 1 },
    { description: 'A UUID chosen by the player, the same for all events of a view.', example: '7d444840-9dc0-41d1-b245-5ffdce74fad2' },
  ),
  type: oneOf(['load', 'play', 'progress', 'ended'], { description: 'What happened.' }),
  at: seconds({ description: 'Milliseconds since 1970 UTC; at most 24 h ago and 5 min ahead.', example: 1_893_456_000_000 }),
  position: seconds({ description: 'Where the player stands, in seconds.', example: 12.5 }).optional(),
  watched: intervals('What was watched since the view began, or since an earlier event.').optional(),
  rewatched: intervals('What was watched once more.').optional(),
  language: language('The language heard.').optional(),
  subtitle: language('The language of the subtitles shown.').optional(),
  qoe: qoe.meta({ description: 'How well it played so far in this view.' }).optional(),
})

/** As the service takes it. */
export function eventMessage(sent: z.output<typeof PlayerEvent>): Event {
  const { startup_ms, stalls = 0, stalled_ms = 0, error = '' } = sent.qoe ?? {}
  return {
    videoId: sent.video_id,
    viewId: sent.view_id,
    type: types[sent.type],
    atMs: sent.at,
    positionSeconds: sent.position,
    watched: (sent.watched ?? []).map(toInterval),
    rewatched: (sent.rewatched ?? []).map(toInterval),
    language: sent.language ?? '',
    subtitle: sent.subtitle ?? '',
    quality: sent.qoe && { startupMs: startup_ms, stalls, stalledMs: stalled_ms, error },
  }
}

function toInterval([fromSeconds, toSeconds]: readonly [number, number]) {
  return { fromSeconds, toSeconds }
}
