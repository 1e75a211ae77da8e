import { invalid, notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { MediaServiceService } from '@vitascope/proto/catalogue/v1/media'
import { parseId } from '../id/id.ts'
import type { Organisations } from '../organisation-mirror/organisation.ts'
import { checkText } from '../text.ts'
import { toStatusMessage } from '../video/video-message.ts'
import { requireUser, scopeOf, type UserPrincipal } from '../visibility.ts'
import { mergeMedia } from './media.ts'
import type { MediaKey, MediaStore } from './media-store.ts'
import { checkSourceUrl } from './source-url.ts'

export function mediaHandlers(media: MediaStore, organisations: Organisations): Handlers<typeof MediaServiceService> {
  return {
    async getMedia({ mediaId }, { principal, signal }) {
      const found = await media.find(keyOf(requireUser(principal), mediaId), signal)
      if (!found) throw notFound('media', mediaId)
      return { media: found }
    },
    async updateMedia({ media: given, updateMask = [] }, { principal, signal }) {
      const user = requireUser(principal)
      const key = keyOf(user, given?.mediaId ?? '')
      if (!given) throw notFound('media', '')
      const bySystem = user.userType === 'system'
      const updated =
        updateMask.length === 0
          ? await media.find(key, signal)
          : await media.update(key, (now) => mergeMedia(now, given, updateMask, bySystem), signal)
      if (!updated) throw notFound('media', key.mediaId)
      return { media: updated }
    },
    async replaceSource({ mediaId, sourceUrl, organisationId, startsWaiting }, call) {
      const user = requireUser(call.principal)
      const { scope } = keyOf(user, mediaId)
      const owner = organisationId === '' ? scope : parseId(organisationId)
      if (owner === undefined || (scope !== null && owner !== scope)) throw notFound('media', mediaId)
      const problems = checkSourceUrl('url', sourceUrl)
      if (problems.length > 0) throw invalid(problems)
      // Its quota may not have been asked for yet.
      const replaced = await media.find({ scope: owner, mediaId }, call.signal)
      if (replaced) await organisations.need(replaced.organisationId, call.signal)
      const { status, ...replacement } = await media.replace(
        { scope: owner, mediaId },
        { sourceUrl, userId: user.userId, startsWaiting },
        call,
      )
      return { ...replacement, status: toStatusMessage(status) }
    },
    async publishMedia({ mediaId }, call) {
      const user = requireUser(call.principal)
      return media.publish(keyOf(user, mediaId), user.userId, call)
    },
    async deleteMedia({ mediaId, userId, notes }, { principal, signal }) {
      const user = requireUser(principal)
      const bySystem = user.userType === 'system'
      const problems = [
        ...(bySystem && !parseId(userId) ? [{ field: 'user_id', message: 'must be the id of the user on whose behalf this is done' }] : []),
        ...checkText('notes', notes, { max: 1_000 }),
      ]
      if (problems.length > 0) throw invalid(problems)
      const deletion = { userId: bySystem ? userId : user.userId, callerId: user.userId, notes }
      return { deleteTime: await media.remove(keyOf(user, mediaId), deletion, signal) }
    },
  }
}

function keyOf(user: UserPrincipal, mediaId: string): MediaKey {
  if (!parseId(mediaId)) throw notFound('media', mediaId)
  return { scope: scopeOf(user), mediaId }
}
