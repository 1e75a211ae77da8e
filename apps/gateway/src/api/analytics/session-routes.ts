import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { id, pathPart } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery } from '../../server/schema/pagination.ts'
import { SessionDetailResponse, SessionResponse, sessionEventResponse, sessionResponse } from './session-response.ts'

const section = 'Analytics'
const access = 'user'
const retention = 'Sessions are deleted with the events of their days, and when their video is deleted.'

export const getSession = route({
  get: ['/analytics/session/:viewId'],
  operationId: 'getViewSession',
  section,
  access,
  summary: 'Read the session of a view',
  description: `Returns the startup time of a view, and its stalls, rendition switches, errors and play states in order. ${retention}`,
  params: z.object({ viewId: pathPart({ description: 'UUID of the view.', example: '7d444840-9dc0-41d1-b245-5ffdce74fad2' }) }),
  response: SessionDetailResponse,
  async handle({ params: { viewId } }, { services, call }) {
    const { session, events } = await services.viewSessions.getViewSession({ viewId }, call)
    return { ...sessionResponse(session), events: events.map(sessionEventResponse) }
  },
})

export const listSessions = route({
  get: ['/analytics/sessions/:videoId'],
  operationId: 'listViewSessions',
  section,
  access,
  summary: 'List the sessions of a video',
  description: `Returns the views of a video with their playback quality, newest first. ${retention}`,
  params: z.object({ videoId: id('video') }),
  query: z.object(pageQuery),
  response: z.array(SessionResponse),
  async handle({ params: { videoId }, query }, { services, call, publicUrl }) {
    const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 100 }, async (page) => {
      const { sessions, nextPageToken } = await services.viewSessions.listViewSessions({ videoId, ...page }, call)
      return { rows: sessions, nextPageToken }
    })
    const link = nextLink(publicUrl, `/analytics/sessions/${videoId}`, { ...query, nextCursor })
    return new Reply(rows.map(sessionResponse), { headers: link })
  },
})

export const sessionRoutes = [getSession, listSessions]
