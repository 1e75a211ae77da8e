import { serviceCall } from '@vitascope/grpc'
import type { ReceivedSessionEvent } from '@vitascope/proto/analytics/v1/view_session'
import { z } from 'zod'
import { lenientList, MalformedItem } from '../../server/payload/lenient-list.ts'
import { route } from '../../server/route/route.ts'
import { text } from '../../server/schema/fields.ts'
import { type CmcdLine, parseCmcdLine } from './cmcd-line.ts'
import { EventsResponse, MAX_USER_AGENT_LENGTH } from './event-routes.ts'

const MAX_LINES = 100
const MAX_LINE_LENGTH = 1_000

const EXAMPLE = 'cid="42",e=ps,sid="7d444840-9dc0-41d1-b245-5ffdce74fad2",sta=p,ts=1893456000000,v=2'

const Line = z.strictObject({
  line: text(
    MAX_LINE_LENGTH,
    { min: 1 },
    {
      description: 'A line of the report: a dictionary of CMCD keys.',
      example: EXAMPLE,
    },
  ),
})

export const acceptCmcd = route({
  post: ['/analytics/cmcd'],
  operationId: 'sendCmcdReport',
  section: 'Analytics',
  access: 'public',
  cost: 'event',
  // Each event is a row of its own, so the audit log would only duplicate it.
  audited: false,
  lines: { type: 'application/cmcd', field: 'line' },
  bypassExpress: true,
  status: 202,
  summary: 'Send a CMCD event report',
  description: `Receives event-mode reports of CMCD version 2 (CTA-5004-B): at most ${MAX_LINES} lines of at most ${MAX_LINE_LENGTH.toLocaleString('en')} characters as
\`application/cmcd\` or \`text/plain\`. \`sid\` is the \`view_id\` of the player events of the same view, a UUID, and \`cid\` is the id of the
video. The session of the view gets play states (\`ps\`), changes of the bit rate (\`bc\`), errors (\`e\`) and the startup time (\`msd\`).
Other events are accepted and not stored. Each line is validated separately. Invalid lines are listed in \`rejected\` with their
index, and the other lines count. Limits, times and repeated events are as for player events. The counts of reports do not
change.`,
  payload: lenientList(Line, { max: MAX_LINES, message: `must have at most ${MAX_LINES} lines` }),
  docs: { example: [{ line: EXAMPLE }] },
  response: EventsResponse,
  errorCodes: {
    video_unchecked: 'The platform cannot check whether the videos exist. Send the report again.',
    session_intake_full: 'Too many events are waiting. Send the report again.',
  },
  async handle({ payload }, { services, call, client, admitEvents }) {
    const { lines, ignored, malformed } = separate(payload)
    services.analyticsEvents.countMalformed(malformed.length)
    const userAgent = client.userAgent.slice(0, MAX_USER_AGENT_LENGTH)
    const counted = lines.map(({ videoId, viewId, atMs, event }) => ({
      ...{ video_id: videoId, view_id: viewId, at: atMs },
      qoe: { error: event.errorCode },
    }))
    return await admitEvents(counted, { userAgent, malformed: malformed.length + ignored }, async (knownViewOnly) => {
      if (lines.length === 0) return { accepted: ignored, rejected: malformed }
      const events = lines.map(
        ({ videoId, viewId, event }, nth): ReceivedSessionEvent => ({ videoId, viewId, event, knownViewOnly: knownViewOnly.has(nth) }),
      )
      // The principal of the gateway, as for player events. The call continues if the client disconnects.
      const { accepted, rejected } = await services.viewSessions.acceptSessionEvents(
        { events, userAgent },
        serviceCall('gateway', call.requestId),
      )
      const rejectedLines = rejected.map(({ index, message }) => ({ index: lines[index]?.index ?? index, message }))
      return { accepted: accepted + ignored, rejected: [...malformed, ...rejectedLines].sort((a, b) => a.index - b.index) }
    })
  },
})

type SessionLine = CmcdLine & { event: NonNullable<CmcdLine['event']>; index: number }

/** Returns the lines to store, the number of valid lines without session events, and a rejection for each invalid line. */
function separate(payload: readonly (MalformedItem | z.output<typeof Line>)[]) {
  const lines: SessionLine[] = []
  const malformed: { index: number; message: string }[] = []
  let ignored = 0
  for (const [index, item] of payload.entries()) {
    const line = item instanceof MalformedItem ? item.message : parseCmcdLine(item.line)
    if (typeof line === 'string') malformed.push({ index, message: line })
    else if (line.event) lines.push({ ...line, event: line.event, index })
    else ignored++
  }
  return { lines, ignored, malformed }
}

export const cmcdRoutes = [acceptCmcd]
