import { z } from 'zod'
import { shown } from '../public-form.ts'
import { route } from '../route.ts'
import { eventMessage, PlayerEvent } from './event.ts'
import { MOST_EVENTS, readPlainEvents } from './plain-event.ts'

/** Longer ones are nobody's: what is told apart by it stands at the beginning. */
const LONGEST_AGENT = 500

export const acceptEvents = route({
  post: ['/analytics/events'],
  section: 'Added',
  access: 'public',
  cost: 'event',
  // Each has its row, under its own rules; a log of writes would only be a second copy.
  audited: false,
  plainJson: true,
  readPlain: readPlainEvents,
  direct: true,
  status: 202,
  summary: 'Tell what happens in players',
  description: `At most ${MOST_EVENTS} events, as JSON, which may also come as \`text/plain\`, so that \`sendBeacon\` works from any page. Answered when those
that are accepted are durable. An event that is sent again, late or in another order changes no count, so that whoever gets no answer, 429 or 503
sends the same again. Fields of a wrong type refuse the request; an unknown video, a \`view_id\` that is no UUID, a time that is too old or in the
future, a negative position, an inverted interval, or a known bot rejects the event alone.`,
  payload: z.array(PlayerEvent).min(1, 'must have at least one event').max(MOST_EVENTS, `must have at most ${MOST_EVENTS} events`),
  answer: z.object({
    accepted: shown.int('How many count.'),
    rejected: z.array(
      z.object({ index: shown.int('Place of the event in the request, from 0.'), message: shown.text('Why it does not count.') }),
    ),
  }),
  refusals: {
    video_unchecked: 'whether the videos exist cannot be found out just now: send the events again',
    intake_full: 'too many events wait: send them again',
  },
  async handle({ payload }, { services, call, from }) {
    const request = {
      events: payload.map(eventMessage),
      userAgent: from.userAgent.slice(0, LONGEST_AGENT),
      clientAddress: from.address,
    }
    // Whoever tells is nobody to the service, and may go before the answer; that an event comes twice is no matter to it.
    const { accepted, rejected } = await services.analyticsEvents.send(request, call.requestId)
    return { accepted, rejected: rejected.map(({ index, message }) => ({ index, message })) }
  },
})

export const eventRoutes = [acceptEvents]
