import type { ListVideosByPlaceRequest, PlacedVideo } from '@vitascope/proto/catalogue/v1/location'
import { z } from 'zod'
import { field, refuse } from '../field.ts'
import { organisationIdField, pathPart } from '../fields.ts'
import { requiredOrganisation } from '../organisation-rule.ts'
import { collectRows, nextLink, pageQuery } from '../pages.ts'
import { given, numberText, shown } from '../public-form.ts'
import { type Context, Reply, route } from '../route.ts'
import { LocationRecord } from '../video/video-record.ts'
import { locationView } from '../video/video-view.ts'

export const lookUpPostcode = route({
  get: ['/location/lookup/:postcode'],
  section: 'Location',
  access: 'user',
  summary: 'Find where a postcode is',
  description: `Case, spaces, hyphens and points do not count. A full postcode of Canada, Great Britain, the Netherlands or the United States (ZIP+4)
that is not known itself is found by its area. Where several countries have the postcode, \`country\` says which is meant; without it, the one whose
code sorts first is answered.`,
  params: z.object({ postcode: pathPart({ description: 'As written by people.', example: '1012 AB' }) }),
  query: z.object({
    country: field(
      (value) =>
        typeof value === 'string' && /^[A-Za-z]{2}$/.test(value) ? value : refuse('must be a country code of two letters, such as NL'),
      z.string().meta({ description: 'ISO 3166-1 alpha-2 code.', pattern: '^[A-Za-z]{2}$', example: 'NL' }),
    ).optional(),
  }),
  answer: z.object({
    postcode: shown.text('As its country writes it; of a full postcode found by its area, the area.', '1012'),
    country: shown.text('ISO 3166-1 alpha-2 code.', 'NL'),
    latitude: shown.text('Degrees.', '52.37'),
    longitude: shown.text('Degrees.', '4.89'),
  }),
  async handle({ params, query }, { services, call }) {
    const found = await services.locations.lookUpPostcode({ postcode: params.postcode, country: query.country ?? '' }, call)
    return {
      postcode: found.postcode,
      country: found.country,
      latitude: numberText(found.latitude),
      longitude: numberText(found.longitude),
    }
  },
})

const listQuery = z.object({ organisation_id: organisationIdField().optional(), ...pageQuery })

const placedVideos = z.array(
  z.object({ video_id: shown.id('video'), title: shown.text('Its title.', 'Launch day'), location: LocationRecord }),
)

const description = `Oldest first, also disabled and expired ones; compared as written but for case. A user’s own organisation’s; a system key names one
by \`organisation_id\`.`

export const listVideosOfCountry = route({
  get: ['/location/videos/country/:country'],
  section: 'Location',
  access: 'user',
  summary: 'List the videos shot in a country',
  description,
  params: z.object({ country: pathPart({ description: 'As in `location` of the video.', example: 'NL' }) }),
  query: listQuery,
  answer: placedVideos,
  handle: ({ params, query }, context) => listVideos({ $case: 'country', value: params.country }, query, context),
})

export const listVideosOfCity = route({
  get: ['/location/videos/city/:city'],
  section: 'Location',
  access: 'user',
  summary: 'List the videos shot in a city',
  description,
  params: z.object({ city: pathPart({ description: 'As in `location` of the video.', example: 'Amsterdam' }) }),
  query: listQuery,
  answer: placedVideos,
  handle: ({ params, query }, context) => listVideos({ $case: 'city', value: params.city }, query, context),
})

export const locationRoutes = [lookUpPostcode, listVideosOfCountry, listVideosOfCity]

type Where = NonNullable<ListVideosByPlaceRequest['place']>

async function listVideos(
  place: Where,
  { organisation_id, ...query }: z.output<typeof listQuery>,
  { caller, services, call, publicUrl }: Context,
): Promise<Reply> {
  const organisationId = requiredOrganisation(caller, organisation_id)
  const { rows, more } = await collectRows({ ...query, part: 500 }, async (page) => {
    const { videos, nextPageToken } = await services.locations.listVideosByPlace({ organisationId, place, ...page }, call)
    return { rows: videos, nextPageToken }
  })
  const path = `/location/videos/${place.$case}/${encodeURIComponent(place.value)}`
  const headers = nextLink(publicUrl, path, { ...query, more, query: { organisation_id: organisationId } })
  return new Reply(rows.map(placedVideoView), { headers })
}

function placedVideoView({ videoId, title, location }: PlacedVideo): z.input<typeof placedVideos>[number] {
  return { video_id: videoId, title, location: locationView(given(location, 'where a video was shot')) }
}
