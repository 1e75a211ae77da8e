import { type Event, EventType } from '@vitascope/proto/analytics/v1/event'
import { z } from 'zod'
import { field, problem, reject } from '../../server/schema/field.ts'
import { decimal, type FieldDocs, int, list, oneOf, text } from '../../server/schema/fields.ts'

/** Larger values do not come from a player. */
const maxIntervals = 1_000
const maxStartMs = 3_600_000
const maxStalls = 1_000_000
const maxStallMs = 86_400_000
const maxSwitches = 1_000_000

/** A number of seconds. Analytics validates its value together with the rest of the event. */
function seconds(docs: FieldDocs) {
  return numberField('must be a number of seconds', docs)
}

/** Accepts a JSON number or decimal digits. Rejects everything else with the message. */
function numberField(sentence: string, docs: FieldDocs) {
  return field(
    (value) => {
      const number = typeof value === 'string' && /^-?\d{1,16}(\.\d{1,20})?$/.test(value) ? Number(value) : value
      return typeof number === 'number' && Number.isFinite(number) ? number : reject(sentence)
    },
    z.number(problem(sentence)).meta(docs),
  )
}

const interval = z.tuple([seconds({}), seconds({})], problem('must be a pair of seconds: [from, to]')).meta({
  // Many client generators do not support tuples.
  ...{ type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 },
  description: 'Start and end in seconds. The end is exclusive.',
  example: [0, 12.5],
})
const intervals = (description: string) => list(interval, { max: maxIntervals }, { description, example: [[0, 12.5]] })

/**
 * A JSON number is converted to text, so that an unknown video gets the same error in both forms.
 */
const videoId = field(
  (value) => (typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value),
  text(300, { min: 1 }, { description: 'Id of the video. An event of an unknown video is rejected.', example: '42' }),
)

const language = (description: string) => text(35, {}, { description, example: 'en' })

const qoe = z.strictObject(
  {
    startup_ms: decimal(
      { min: 0, max: maxStartMs },
      { description: 'Milliseconds from the request to play to the first frame.' },
    ).optional(),
    stalls: int({ min: 0, max: maxStalls }, { description: 'Number of times that playback stopped to wait for data.' }).optional(),
    stalled_ms: decimal({ min: 0, max: maxStallMs }, { description: 'Stalled time in milliseconds.' }).optional(),
    switches: int(
      { min: 0, max: maxSwitches },
      { description: 'Number of times that playback continued in a rendition of another height.' },
    ).optional(),
    error: text(100, {}, { description: 'Error that ended the view.', example: 'network' }).optional(),
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
    {
      description: 'UUID that the player chooses. It is the same for all events of a view.',
      example: '7d444840-9dc0-41d1-b245-5ffdce74fad2',
    },
  ),
  type: oneOf(['load', 'play', 'progress', 'ended'], { description: 'Type of the event.' }),
  at: numberField('must be a number of milliseconds since 1970-01-01 00:00 UTC', {
    description: 'Time of the event in milliseconds since 1970-01-01 00:00 UTC. At most 24 h ago and 5 min ahead.',
    example: 1_893_456_000_000,
  }),
  position: seconds({ description: 'Playback position in seconds.', example: 12.5 }).optional(),
  watched: intervals('Intervals that were watched since the start of the view or since an earlier event.').optional(),
  rewatched: intervals('Intervals that were watched again.').optional(),
  language: language('Audio language.').optional(),
  subtitle: language('Language of the subtitles shown.').optional(),
  referrer: text(
    300,
    {},
    {
      description: 'Host of the page that contains the player, or of the page with the link to it. Only its registrable domain is stored.',
      example: 'www.example.com',
    },
  ).optional(),
  qoe: qoe.meta({ description: 'Playback quality of this view so far.' }).optional(),
})

/** A well-formed event. */
export type PlayerEventPayload = z.output<typeof PlayerEvent>

/** Converts an event to its protobuf message. */
export function eventMessage(event: PlayerEventPayload, knownViewOnly: boolean): Event {
  const { startup_ms, stalls = 0, stalled_ms = 0, switches = 0, error = '' } = event.qoe ?? {}
  return {
    videoId: event.video_id,
    viewId: event.view_id,
    type: types[event.type],
    atMs: event.at,
    positionSeconds: event.position,
    watched: (event.watched ?? []).map(toInterval),
    rewatched: (event.rewatched ?? []).map(toInterval),
    language: event.language ?? '',
    subtitle: event.subtitle ?? '',
    referrer: event.referrer ?? '',
    quality: event.qoe && { startupMs: startup_ms, stalls, stalledMs: stalled_ms, switches, error },
    knownViewOnly,
  }
}

function toInterval([fromSeconds, toSeconds]: readonly [number, number]) {
  return { fromSeconds, toSeconds }
}
