import type { DownloadDay } from '@vitascope/proto/catalogue/v1/download'
import { z } from 'zod'
import { type Context, route } from '../../server/route/route.ts'
import { id } from '../../server/schema/fields.ts'
import { schema } from '../../server/schema/response-format.ts'
import { periodResponse } from './analytics-response.ts'
import { periodQuery, readPeriod } from './period-query.ts'
import { reportedOrganisation } from './reported-organisation.ts'

const section = 'Analytics'
const counts = {
  original: schema.int('Downloads of originals.', 1),
  mp4: schema.int('Downloads of MP4 files.', 12),
  audio: schema.int('Downloads of the sound.', 2),
  caption: schema.int('Downloads of captions.', 0),
}
const DownloadsResponse = z.object({
  organisation_id: schema.id('organisation'),
  ...counts,
  days: z
    .array(z.object({ day: schema.text('`YYYY-MM-DD` in UTC.', '2030-01-01'), ...counts }))
    .meta({ description: 'The days with downloads, oldest first.' }),
  date_start: schema.text('`YYYY-MM-DD` in UTC.', '2030-01-01'),
  date_end: schema.text('`YYYY-MM-DD` in UTC.', '2030-12-31'),
})
const description =
  'Counts requests for files with a download URL that began at the first byte, with a delay of a few seconds. Downloads of deleted videos are not counted.'

export const getDownloads = route({
  get: ['/analytics/downloads/:organisationId'],
  operationId: 'getDownloads',
  section,
  access: 'user',
  summary: 'Count the downloads of an organisation',
  description,
  params: z.object({ organisationId: id('organisation') }),
  query: z.object(periodQuery),
  response: DownloadsResponse,
  handle: ({ params: { organisationId }, query }, context) => readDownloads(organisationId, '', query, context),
})

export const getVideoDownloads = route({
  get: ['/analytics/downloads/:organisationId/video/:videoId'],
  operationId: 'getVideoDownloads',
  section,
  access: 'user',
  summary: 'Count the downloads of a video',
  description,
  params: z.object({ organisationId: id('organisation'), videoId: id('video') }),
  query: z.object(periodQuery),
  response: DownloadsResponse.extend({ video_id: schema.id('video') }),
  async handle({ params: { organisationId, videoId }, query }, context) {
    return { ...(await readDownloads(organisationId, videoId, query, context)), video_id: videoId }
  },
})

async function readDownloads(
  requestedId: string,
  videoId: string,
  query: Parameters<typeof readPeriod>[0],
  context: Context,
): Promise<z.input<typeof DownloadsResponse>> {
  const period = readPeriod(query)
  const organisationId = await reportedOrganisation(requestedId, context)
  const { days } = await context.services.downloads.listDownloadDays({ organisationId, videoId, ...period }, context.call)
  const add = (name: keyof Omit<DownloadDay, 'day'>) => days.reduce((sum, day) => sum + day[name], 0)
  return {
    organisation_id: organisationId,
    ...{ original: add('originals'), mp4: add('mp4'), audio: add('audio'), caption: add('captions') },
    days: days.map(({ day, originals, mp4, audio, captions }) => ({ day, original: originals, mp4, audio, caption: captions })),
    ...periodResponse(period),
  }
}

export const downloadReportRoutes = [getDownloads, getVideoDownloads]
