import { invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import { requireSystemUser, requireUser } from '@vitascope/principal'
import {
  type EncodingFormatServiceService,
  OrganisationFormat as FormatMessage,
  EncodingProfile as ProfileMessage,
} from '@vitascope/proto/catalogue/v1/encoding_format'
import { isId } from '@vitascope/request'
import type { Organisations } from '../../organisation-replica/organisation.ts'
import { requireOrganisation } from '../../organisation-replica/requested-organisation.ts'
import type { EncodingFormatStore, OrganisationFormat } from './encoding-format-store.ts'
import { type EncodingProfile, findProfile, profiles } from './profiles.ts'

export function encodingFormatHandlers(
  formats: EncodingFormatStore,
  organisations: Organisations,
): Handlers<typeof EncodingFormatServiceService> {
  return {
    async listProfiles(_, { principal }) {
      requireSystemUser(principal)
      return { profiles: profiles.map(toMessage) }
    },
    async listMediaFormats({ mediaId }, { principal, signal }) {
      requireSystemUser(principal)
      const mediaFormats = isId(mediaId) ? await formats.findOfMedia(mediaId, signal) : undefined
      if (!mediaFormats) throw notFound('media', mediaId)
      return { mediaId: mediaFormats.mediaId, title: mediaFormats.title, profiles: toProfiles(mediaFormats.profileIds) }
    },
    async addMediaFormat({ mediaId, profileId }, call) {
      requireSystemUser(call.principal)
      if (!isId(mediaId)) throw notFound('media', mediaId)
      const request = { mediaId, profileId: checkProfile(profileId), userId: requireUser(call.principal).userId }
      const { profileIds, ...response } = await formats.addToMedia(request, call)
      return { ...response, profiles: toProfiles(profileIds) }
    },
    async listOrganisationFormats({ organisationId: requestedId }, { principal, signal }) {
      requireSystemUser(principal)
      const organisationId = await requireOrganisation(organisations, principal, requestedId, signal)
      return { formats: (await formats.findOfOrganisation(organisationId, signal)).flatMap(toFormat) }
    },
    async addOrganisationFormat({ organisationId: requestedId, profileId }, { principal, signal }) {
      requireSystemUser(principal)
      const organisationId = await requireOrganisation(organisations, principal, requestedId, signal)
      return { formats: (await formats.addToOrganisation(organisationId, checkProfile(profileId), signal)).flatMap(toFormat) }
    },
    async removeOrganisationFormat({ organisationFormatId }, { principal, signal }) {
      requireSystemUser(principal)
      if (!isId(organisationFormatId)) throw notFound('encoding format', organisationFormatId)
      await formats.removeFromOrganisation(organisationFormatId, signal)
      return {}
    },
  }
}

function checkProfile(profileId: number): number {
  if (findProfile(profileId)) return profileId
  throw invalid([{ field: 'profile_id', message: 'must be the id of a profile; GET /encodingformat lists them' }])
}

function toProfiles(profileIds: readonly number[]): ProfileMessage[] {
  return profiles.filter(({ id }) => profileIds.includes(id)).map(toMessage)
}

function toFormat({ organisationFormatId, profileId }: OrganisationFormat): FormatMessage[] {
  const profile = findProfile(profileId)
  return profile ? [FormatMessage.create({ organisationFormatId, profile: toMessage(profile) })] : []
}

function toMessage({ id, label, videoCodec, width, height, audioBitrate }: EncodingProfile): ProfileMessage {
  return ProfileMessage.create({ id, label, videoCodec, size: `${width}x${height}`, videoBitrate: label - audioBitrate, audioBitrate })
}
