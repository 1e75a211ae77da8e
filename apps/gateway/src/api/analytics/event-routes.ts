import { z } from 'zod'
import { lenientList, MalformedItem } from '../../server/payload/lenient-list.ts'
import { route } from '../../server/route/route.ts'
import { schema } from '../../server/schema/response-format.ts'
import { eventMessage, PlayerEvent, type PlayerEventPayload } from './event.ts'
import { MAX_EVENTS, readEventsFast } from './event-fast-path.ts'

/** Longer user agents are cut. The identifying part is at the beginning. */
export const MAX_USER_AGENT_LENGTH = 500

/** Response to player events and to lines of CMCD reports. */
export const EventsResponse = z.object({
  accepted: schema.int('Number of events that count.'),
  rejected: z.array(
    z.object({
      index: schema.int('Index of the event in the request, from 0.'),
      message: schema.text('Reason for the rejection.', 'at: is more than 24 hours ago'),
    }),
  ),
})

export const acceptEvents = route({
  post: ['/analytics/events'],
  operationId: 'sendPlayerEvents',
  section: 'Analytics',
  access: 'public',
  cost: 'event',
  // Each event is a row of its own, so the audit log would only duplicate it.
  audited: false,
  plainJson: true,
  fastParse: readEventsFast,
  bypassExpress: true,
  status: 202,
  summary: 'Send player events',
  description: `Send at most ${MAX_EVENTS} events as a JSON array. The content type may be \`text/plain\`, so that \`sendBeacon\` works from any page.
The response is sent when the accepted events are durable. A repeated, late or reordered event does not change a count. A client
that gets no response, 429 or 503 can therefore send the same request again. Each event is validated separately. These events are
listed in \`rejected\` with their index, and the other events count: malformed events, events of an unknown video, a \`view_id\`
that is not a UUID, a time that is too old or in the future, a negative position, an inverted interval, and a known bot. An event
of a view that is not stored is rejected if its IP address has started 500 new views of the video within a minute
(\`too_many_views\`). A language that is neither a language of the video nor an ISO 639 code counts as \`""\`. A body that is not an
array of at most ${MAX_EVENTS} items is rejected as a whole.`,
  payload: lenientList(PlayerEvent, { max: MAX_EVENTS, message: `must have at most ${MAX_EVENTS} events` }),
  docs: {
    example: [{ video_id: '42', view_id: '7d444840-9dc0-41d1-b245-5ffdce74fad2', type: 'play', at: 1_893_456_000_000, position: 0 }],
  },
  response: EventsResponse,
  errorCodes: {
    video_unchecked: 'The platform cannot check whether the videos exist. Send the events again.',
    intake_full: 'Too many events are waiting. Send the events again.',
  },
  async handle({ payload }, { services, call, client, admitEvents }) {
    const { events, indexes, malformed } = separate(payload)
    services.analyticsEvents.countMalformed(malformed.length)
    const userAgent = client.userAgent.slice(0, MAX_USER_AGENT_LENGTH)
    return await admitEvents(events, { userAgent, malformed: malformed.length }, async (knownViewOnly) => {
      if (events.length === 0) return { accepted: 0, rejected: malformed }
      const messages = events.map((event, nth) => eventMessage(event, knownViewOnly.has(nth)))
      const request = { events: messages, userAgent, clientAddress: client.address }
      // The service call has no end-user principal and continues if the client disconnects.
      // Repeated events have no effect.
      const { accepted, rejected } = await services.analyticsEvents.send(request, call.requestId)
      const rejectedEvents = rejected.map(({ index, message }) => ({ index: indexes[index] ?? index, message }))
      return { accepted, rejected: [...malformed, ...rejectedEvents].sort((a, b) => a.index - b.index) }
    })
  },
})

/**
 * Returns the well-formed events with their index in the request, and a rejection for each
 * malformed one.
 */
function separate(payload: readonly (MalformedItem | PlayerEventPayload)[]) {
  const events: PlayerEventPayload[] = []
  const indexes: number[] = []
  const malformed: { index: number; message: string }[] = []
  for (const [index, item] of payload.entries()) {
    if (item instanceof MalformedItem) {
      malformed.push({ index, message: item.message })
    } else {
      events.push(item)
      indexes.push(index)
    }
  }
  return { events, indexes, malformed }
}

export const eventRoutes = [acceptEvents]
