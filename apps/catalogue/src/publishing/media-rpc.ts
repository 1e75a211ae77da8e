import { notFound, requireValid } from '@vitascope/errors'
import type { Call, Handlers } from '@vitascope/grpc'
import { getScope, requireUser, type UserPrincipal } from '@vitascope/principal'
import type { MediaServiceService } from '@vitascope/proto/catalogue/v1/media'
import { checkText, isId } from '@vitascope/request'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { mergeMedia } from './media/media.ts'
import type { MediaKey } from './media/media-lock.ts'
import { checkSourceUrl } from './media/source.ts'
import { toStatusMessage } from './media/status-message.ts'
import type { MediaStore } from './media-store.ts'

/** Adds a video to a media. */
export type PublishMedia = (
  key: MediaKey,
  userId: string,
  call: Pick<Call, 'idempotency' | 'signal'>,
) => Promise<{ videoId: string; mediaId: string }>

export interface MediaParts {
  media: MediaStore
  publishMedia: PublishMedia
  organisations: Organisations
}

export function mediaHandlers({ media, publishMedia, organisations }: MediaParts): Handlers<typeof MediaServiceService> {
  return {
    async getMedia({ mediaId }, { principal, signal }) {
      const stored = await media.find(toKey(requireUser(principal), mediaId), signal)
      if (!stored) throw notFound('media', mediaId)
      return { media: stored }
    },
    async updateMedia({ media: input, updateMask = [] }, { principal, signal }) {
      const user = requireUser(principal)
      const key = toKey(user, input?.mediaId ?? '')
      if (!input) throw notFound('media', '')
      const isSystem = user.userType === 'system'
      const updated =
        updateMask.length === 0
          ? await media.find(key, signal)
          : await media.update(key, (current) => mergeMedia(current, input, updateMask, isSystem), signal)
      if (!updated) throw notFound('media', key.mediaId)
      return { media: updated }
    },
    async replaceSource({ mediaId, sourceUrl, organisationId, startsWaiting }, call) {
      const user = requireUser(call.principal)
      const { scope } = toKey(user, mediaId)
      const owner = organisationId === '' ? scope : organisationId
      if ((owner !== null && !isId(owner)) || (scope !== null && owner !== scope)) throw notFound('media', mediaId)
      const problems = checkSourceUrl('source_url', sourceUrl)
      requireValid(problems)
      // Ensures that the organisation's quota is known.
      const current = await media.find({ scope: owner, mediaId }, call.signal)
      if (current) await organisations.require(current.organisationId, call.signal)
      const { status, ...replacement } = await media.replace(
        { scope: owner, mediaId },
        { sourceUrl, userId: user.userId, startsWaiting },
        call,
      )
      return { ...replacement, status: toStatusMessage(status) }
    },
    async publishMedia({ mediaId }, call) {
      const user = requireUser(call.principal)
      return publishMedia(toKey(user, mediaId), user.userId, call)
    },
    async deleteMedia({ mediaId, userId, notes }, { principal, signal }) {
      const user = requireUser(principal)
      const isSystem = user.userType === 'system'
      const problems = [
        ...(isSystem && !isId(userId)
          ? [{ field: 'user_id', message: 'must be the id of the user on whose behalf the media is deleted' }]
          : []),
        ...checkText('notes', notes, { max: 1_000 }),
      ]
      requireValid(problems)
      const deletion = { userId: isSystem ? userId : user.userId, callerId: user.userId, notes }
      return { deleteTime: await media.remove(toKey(user, mediaId), deletion, signal) }
    },
  }
}

function toKey(user: UserPrincipal, mediaId: string): MediaKey {
  if (!isId(mediaId)) throw notFound('media', mediaId)
  return { scope: getScope(user), mediaId }
}
