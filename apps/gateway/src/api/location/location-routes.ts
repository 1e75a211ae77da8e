import type { ListVideosByPlaceRequest, PlacedVideo } from '@vitascope/proto/catalogue/v1/location'
import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { type Context, route } from '../../server/route/route.ts'
import { field, reject } from '../../server/schema/field.ts'
import { organisationIdField, pathPart } from '../../server/schema/fields.ts'
import { collectRows, nextLink, pageQuery } from '../../server/schema/pagination.ts'
import { formatNumber, required, schema } from '../../server/schema/response-format.ts'
import { requiredOrganisation } from '../shared/resolve-organisation.ts'
import { LocationResponse, locationResponse } from '../video/video-response.ts'

export const findPostcode = route({
  get: ['/location/lookup/:postcode'],
  operationId: 'lookUpPostcode',
  section: 'Location',
  access: 'user',
  summary: 'Look up a postcode',
  description: `Returns the country and coordinates of a postcode. Upper and lower case, spaces, hyphens and points are ignored. An unknown full postcode of Canada, Great Britain, the Netherlands
or the United States (ZIP+4) is looked up by its area. If several countries have the postcode, \`country\` selects one. The default
is the country whose code sorts first.`,
  params: z.object({ postcode: pathPart({ description: 'Postcode as people write it.', example: '1012 AB' }) }),
  query: z.object({
    country: field(
      (value) =>
        typeof value === 'string' && /^[A-Za-z]{2}$/.test(value) ? value : reject('must be a country code of two letters, such as NL'),
      z.string().meta({ description: 'ISO 3166-1 alpha-2 code.', pattern: '^[A-Za-z]{2}$', example: 'NL' }),
    ).optional(),
  }),
  response: z.object({
    postcode: schema.text('Postcode in the notation of its country. If a full postcode was looked up by its area, the area.', '1012'),
    country: schema.text('ISO 3166-1 alpha-2 code.', 'NL'),
    latitude: schema.text('Latitude in degrees.', '52.37'),
    longitude: schema.text('Longitude in degrees.', '4.89'),
  }),
  async handle({ params, query }, { services, call }) {
    const location = await services.locations.lookUpPostcode({ postcode: params.postcode, country: query.country ?? '' }, call)
    return {
      postcode: location.postcode,
      country: location.country,
      latitude: formatNumber(location.latitude),
      longitude: formatNumber(location.longitude),
    }
  },
})

const listQuery = z.object({ organisation_id: organisationIdField().optional(), ...pageQuery })

const placedVideos = z.array(
  z.object({ video_id: schema.id('video'), title: schema.text('Title of the video.', 'Launch day'), location: LocationResponse }),
)

const description = `Returns videos in order of creation, including disabled and expired ones. Upper and lower case are ignored in the comparison. A
system key selects the organisation with \`organisation_id\`. Other keys see the videos of their own organisation.`

export const listVideosOfCountry = route({
  get: ['/location/videos/country/:country'],
  operationId: 'listVideosByCountry',
  section: 'Location',
  access: 'user',
  summary: 'List the videos recorded in a country',
  description,
  params: z.object({ country: pathPart({ description: 'Country as in `location` of the video.', example: 'NL' }) }),
  query: listQuery,
  response: placedVideos,
  handle: ({ params, query }, context) => listVideos({ $case: 'country', value: params.country }, query, context),
})

export const listVideosOfCity = route({
  get: ['/location/videos/city/:city'],
  operationId: 'listVideosByCity',
  section: 'Location',
  access: 'user',
  summary: 'List the videos recorded in a city',
  description,
  params: z.object({ city: pathPart({ description: 'City as in `location` of the video.', example: 'Amsterdam' }) }),
  query: listQuery,
  response: placedVideos,
  handle: ({ params, query }, context) => listVideos({ $case: 'city', value: params.city }, query, context),
})

export const locationRoutes = [findPostcode, listVideosOfCountry, listVideosOfCity]

type Where = NonNullable<ListVideosByPlaceRequest['place']>

async function listVideos(
  position: Where,
  { organisation_id, ...query }: z.output<typeof listQuery>,
  { caller, services, call, publicUrl }: Context,
): Promise<Reply> {
  const organisationId = requiredOrganisation(caller, organisation_id)
  const { rows, nextCursor } = await collectRows({ ...query, maxPageSize: 500 }, async (page) => {
    const { videos, nextPageToken } = await services.locations.listVideosByPlace({ organisationId, place: position, ...page }, call)
    return { rows: videos, nextPageToken }
  })
  const path = `/location/videos/${position.$case}/${encodeURIComponent(position.value)}`
  const headers = nextLink(publicUrl, path, { ...query, nextCursor, query: { organisation_id: organisationId } })
  return new Reply(rows.map(placedVideoResponse), { headers })
}

function placedVideoResponse({ videoId, title, location }: PlacedVideo): z.input<typeof placedVideos>[number] {
  return { video_id: videoId, title, location: locationResponse(required(location, 'location of the video')) }
}
