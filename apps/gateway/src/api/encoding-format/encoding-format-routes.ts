import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { type Context, route } from '../../server/route/route.ts'
import { id, int } from '../../server/schema/fields.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { QUOTA_ERRORS } from '../shared/quota-errors.ts'
import {
  EncodingProfileResponse,
  encodingProfileResponse,
  MediaFormatsResponse,
  mediaFormatsResponse,
  OrganisationFormatsResponse,
  organisationFormatsResponse,
} from './encoding-format-response.ts'

const profile = () => int({ min: 1, max: 2 ** 31 - 1 }, { description: 'Id of a profile from `GET /encodingformat`.', example: 23 })

export const listProfiles = route({
  get: ['/encodingformat'],
  operationId: 'listEncodingFormats',
  section: 'Encoding formats',
  access: 'system',
  summary: 'List the available encoding formats',
  description: 'Returns the profiles of additional renditions.',
  response: z.array(EncodingProfileResponse),
  async handle(_, { services, call }) {
    const { profiles } = await services.encodingFormats.listProfiles({}, call)
    return profiles.map(encodingProfileResponse)
  },
})

export const getMediaFormats = route({
  get: ['/media/encodingformat/:mediaId'],
  operationId: 'listMediaEncodingFormats',
  section: 'Media',
  access: 'system',
  summary: 'Read the encoding formats of a media',
  description: 'Returns the encoding formats that were applied to the media.',
  params: z.object({ mediaId: id('media') }),
  response: MediaFormatsResponse,
  async handle({ params }, { services, call }) {
    return mediaFormatsResponse(await services.encodingFormats.listMediaFormats({ mediaId: params.mediaId }, call))
  },
})

export const addMediaFormat = route({
  post: ['/media/encodingformat-post/:mediaId'],
  operationId: 'addMediaEncodingFormat',
  section: 'Media',
  access: 'system',
  cost: 'work',
  summary: 'Apply an encoding format to a media',
  description:
    'Queues a job for one additional rendition. The existing files are not changed. When the rendition is complete, it adds a key ' +
    'to `uri.http` and a variant to `uri.hls`. The header `X-Job-Id` contains the id of the job. It is missing if the rendition ' +
    'already exists, or if no source is playable yet. In the second case the rendition is encoded when a source becomes playable. It is also ' +
    'encoded for every later source of the media.',
  params: z.object({ mediaId: id('media') }),
  payload: z.strictObject({ encodingformat: profile() }),
  publicNames: { profile_id: 'encodingformat' },
  response: MediaFormatsResponse,
  errorCodes: { no_picture: 'The playable files contain audio only.', ...QUOTA_ERRORS },
  async handle({ params, payload }, { services, call }) {
    const request = { mediaId: params.mediaId, profileId: payload.encodingformat }
    const formats = await services.encodingFormats.addMediaFormat(request, call)
    return new Reply(mediaFormatsResponse(formats), { headers: formats.jobId === '' ? {} : { 'X-Job-Id': formats.jobId } })
  },
})

export const getOrganisationFormats = route({
  get: ['/organisation/encodingformat/:organisationId'],
  operationId: 'listOrganisationEncodingFormats',
  section: 'Organisations',
  access: 'system',
  summary: 'Read the encoding formats of an organisation',
  description: 'Returns the encoding formats that later uploads of the organisation receive.',
  params: z.object({ organisationId: id('organisation') }),
  response: OrganisationFormatsResponse,
  async handle({ params }, context) {
    const organisation = await findOrganisation(params.organisationId, context)
    const { formats } = await context.services.encodingFormats.listOrganisationFormats(
      { organisationId: params.organisationId },
      context.call,
    )
    return organisationFormatsResponse(organisation, formats)
  },
})

export const addOrganisationFormat = route({
  put: ['/organisation/encodingformat-post/:organisationId'],
  operationId: 'addOrganisationEncodingFormat',
  section: 'Organisations',
  access: 'system',
  summary: 'Apply an encoding format to later uploads',
  description: 'Each later upload of the organisation receives the rendition when it is playable. Existing media are not changed.',
  params: z.object({ organisationId: id('organisation') }),
  payload: z.strictObject({ encodingformat_id: profile() }),
  publicNames: { profile_id: 'encodingformat_id' },
  response: OrganisationFormatsResponse,
  async handle({ params, payload }, context) {
    const organisation = await findOrganisation(params.organisationId, context)
    const request = { organisationId: params.organisationId, profileId: payload.encodingformat_id }
    const { formats } = await context.services.encodingFormats.addOrganisationFormat(request, context.call)
    return organisationFormatsResponse(organisation, formats)
  },
})

export const removeOrganisationFormat = route({
  delete: ['/organisation/encodingformat-delete/:organisationEncodingformatId'],
  operationId: 'removeOrganisationEncodingFormat',
  section: 'Organisations',
  access: 'system',
  summary: 'Stop applying an encoding format to uploads',
  description: 'Removes an encoding format from the later uploads of the organisation. Existing renditions are kept.',
  params: z.object({ organisationEncodingformatId: id('association, `organisation_encodingformat_id`') }),
  response: z.object({ deleted: schema.int('The association that was deleted.', 7) }),
  async handle({ params }, { services, call }) {
    const organisationFormatId = params.organisationEncodingformatId
    await services.encodingFormats.removeOrganisationFormat({ organisationFormatId }, call)
    return { deleted: Number(organisationFormatId) }
  },
})

export const encodingFormatRoutes = [
  listProfiles,
  getMediaFormats,
  addMediaFormat,
  getOrganisationFormats,
  addOrganisationFormat,
  removeOrganisationFormat,
]

async function findOrganisation(organisationId: string, { services, call }: Context) {
  const { organisation } = await services.organisations.getOrganisation({ organisationId }, call)
  return required(organisation, 'organisation')
}
