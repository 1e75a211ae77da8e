import { z } from 'zod'
import { id, int } from '../fields.ts'
import { given, shown } from '../public-form.ts'
import { withPublicNames } from '../public-names.ts'
import { type Context, Reply, route } from '../route.ts'
import { QUOTA_REFUSALS } from '../video/quota-refusals.ts'
import {
  MediaFormats,
  mediaFormatsView,
  OrganisationFormats,
  organisationFormatsView,
  ProfileRecord,
  profileView,
} from './encoding-format-view.ts'

const profile = () => int({ min: 1, max: 2 ** 31 - 1 }, { description: 'Id of a profile: `GET /encodingformat` lists them.', example: 23 })

export const listProfiles = route({
  get: ['/encodingformat'],
  section: 'Added',
  access: 'system',
  summary: 'List the encoding formats that there are',
  answer: z.array(ProfileRecord),
  async handle(_, { services, call }) {
    const { profiles } = await services.encodingFormats.listProfiles({}, call)
    return profiles.map(profileView)
  },
})

export const getMediaFormats = route({
  get: ['/media/encodingformat/:mediaId'],
  section: 'Media',
  access: 'system',
  summary: 'Read which encoding formats were applied to a media',
  params: z.object({ mediaId: id('media') }),
  answer: MediaFormats,
  async handle({ params }, { services, call }) {
    return mediaFormatsView(await services.encodingFormats.listMediaFormats({ mediaId: params.mediaId }, call))
  },
})

export const addMediaFormat = route({
  post: ['/media/encodingformat-post/:mediaId'],
  section: 'Media',
  access: 'system',
  cost: 'work',
  summary: 'Apply an encoding format to a media',
  description:
    'The rendition is queued alone; what plays stays as it is, and gets one more key in `uri.http` and one more variant in `uri.hls` when it is complete. The header `X-Job-Id` names its job; there is none where the rendition is there already, or nothing plays yet: then it is made once something does. It is made again of every later source of the media.',
  params: z.object({ mediaId: id('media') }),
  payload: z.strictObject({ encodingformat: profile() }),
  answer: MediaFormats,
  refusals: { no_picture: 'what plays is sound alone', ...QUOTA_REFUSALS },
  async handle({ params, payload }, { services, call }) {
    const request = { mediaId: params.mediaId, profileId: payload.encodingformat }
    const formats = await withPublicNames({ profile_id: 'encodingformat' }, services.encodingFormats.addMediaFormat(request, call))
    return new Reply(mediaFormatsView(formats), { headers: formats.jobId === '' ? {} : { 'X-Job-Id': formats.jobId } })
  },
})

export const getOrganisationFormats = route({
  get: ['/organisation/encodingformat/:organisationId'],
  section: 'Organisations',
  access: 'system',
  summary: 'Read which encoding formats later uploads of an organisation get',
  params: z.object({ organisationId: id('organisation') }),
  answer: OrganisationFormats,
  async handle({ params }, context) {
    const named = await organisationOf(params.organisationId, context)
    const { formats } = await context.services.encodingFormats.listOrganisationFormats(
      { organisationId: params.organisationId },
      context.call,
    )
    return organisationFormatsView(named, formats)
  },
})

export const addOrganisationFormat = route({
  put: ['/organisation/encodingformat-post/:organisationId'],
  section: 'Organisations',
  access: 'system',
  summary: 'Have later uploads of an organisation get an encoding format',
  description: 'Each of its later uploads gets the rendition once it plays; media that are there already stay as they are.',
  params: z.object({ organisationId: id('organisation') }),
  payload: z.strictObject({ encodingformat_id: profile() }),
  answer: OrganisationFormats,
  async handle({ params, payload }, context) {
    const named = await organisationOf(params.organisationId, context)
    const request = { organisationId: params.organisationId, profileId: payload.encodingformat_id }
    const names = { profile_id: 'encodingformat_id' }
    const { formats } = await withPublicNames(names, context.services.encodingFormats.addOrganisationFormat(request, context.call))
    return organisationFormatsView(named, formats)
  },
})

export const removeOrganisationFormat = route({
  delete: ['/organisation/encodingformat-delete/:organisationEncodingformatId'],
  section: 'Organisations',
  access: 'system',
  summary: 'End that later uploads of an organisation get an encoding format',
  params: z.object({ organisationEncodingformatId: id('association, `organisation_encodingformat_id`') }),
  answer: z.object({ deleted: shown.int('The association that is gone.', 7) }),
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

async function organisationOf(organisationId: string, { services, call }: Context) {
  const { organisation } = await services.organisations.getOrganisation({ organisationId }, call)
  return given(organisation, 'organisation')
}
