import { notFound } from '@vitascope/errors'
import type { Handlers, Principal } from '@vitascope/grpc'
import { requireUser } from '@vitascope/principal'
import type { PlaybackKeyServiceService } from '@vitascope/proto/catalogue/v1/playback_key'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { findRequestedOrganisation, requireOrganisation } from '../organisation-replica/requested-organisation.ts'
import { checkNewKey, mergeKey } from './playback-key.ts'
import type { PlaybackKeyStore, PlaybackKeyTarget } from './playback-key-store.ts'

export function playbackKeyHandlers(keys: PlaybackKeyStore, organisations: Organisations): Handlers<typeof PlaybackKeyServiceService> {
  const findTarget = async (
    { keyId, organisationId }: { keyId: string; organisationId: string },
    principal: Principal,
    signal: AbortSignal,
  ): Promise<PlaybackKeyTarget> => ({
    scope: await findRequestedOrganisation(organisations, requireUser(principal), organisationId, signal),
    keyId,
  })
  return {
    async listPlaybackKeys({ organisationId: requestedId }, { principal, signal }) {
      const organisationId = await requireOrganisation(organisations, requireUser(principal), requestedId, signal)
      return { keys: await keys.list(organisationId, signal) }
    },
    async createPlaybackKey({ organisationId: requestedId, name, publicKey, active }, call) {
      const organisationId = await requireOrganisation(organisations, requireUser(call.principal), requestedId, call.signal)
      return { key: await keys.create(checkNewKey({ organisationId, name, publicKey, active }), call) }
    },
    async updatePlaybackKey({ key: input, updateMask = [], organisationId }, { principal, signal }) {
      if (!input) throw notFound('playback key', '')
      const target = await findTarget({ keyId: input.keyId, organisationId }, principal, signal)
      return { key: await keys.update(target, (current) => mergeKey(current, input, updateMask), signal) }
    },
    async deletePlaybackKey({ keyId, organisationId }, { principal, signal }) {
      await keys.remove(await findTarget({ keyId, organisationId }, principal, signal), signal)
      return {}
    },
  }
}
