import { DomainError, invalid } from '@vitascope/errors'
import type { Call, Handlers } from '@vitascope/grpc'
import { getScope } from '@vitascope/principal'
import { Clip as ClipMessage } from '@vitascope/proto/collaboration/v1/clip'
import type { GuestReviewServiceService } from '@vitascope/proto/collaboration/v1/guest_review'
import type { GuestVideos } from '../clients/guest-videos.ts'
import { type Clients, requireResolved } from '../clients/resolve-references.ts'
import { CHANGEABLE, checkClip } from '../entry/clip.ts'
import type { ClipStore } from '../entry/clip-store.ts'
import type { EntryKey } from '../entry/entry-lock.ts'
import { toMessage } from '../entry/entry-message.ts'
import type { EntryStore } from '../entry/entry-store.ts'
import type { GuestLinkStore } from './guest-link-store.ts'

export interface GuestReviewParts extends Clients {
  links: GuestLinkStore
  clips: Pick<ClipStore, 'create' | 'find' | 'findCreated' | 'remove'>
  entries: Pick<EntryStore, 'find' | 'findHead'>
  guestVideos: GuestVideos
}

const MIN_LINK_SECONDS = 60
const MAX_LINK_SECONDS = 7_776_000
/** A token of a video cannot be revoked, so it is much shorter than a link. */
const MAX_PLAYBACK_SECONDS = 14_400
const ALL_FIELDS = new Set(CHANGEABLE)

export function guestReviewHandlers({
  links,
  clips,
  entries,
  guestVideos,
  ...clients
}: GuestReviewParts): Handlers<typeof GuestReviewServiceService> {
  const requireOwnEntry = async (collaborationId: string, call: Call) => {
    const key = { scope: getScope(call.principal), collaborationId }
    const record = { noun: 'collaboration', id: collaborationId }
    await requireResolved(clients, await entries.findHead(key, call.signal), record, call)
    return key
  }
  const requireLink = async (token: string, call: Call) => {
    const link = await links.find(token, call.signal)
    if (!link) throw reviewNotFound()
    const key: EntryKey = { scope: link.organisationId, collaborationId: link.collaborationId }
    return { link, key }
  }
  return {
    async setGuestLink({ collaborationId, expiresInSeconds }, call) {
      const key = await requireOwnEntry(collaborationId, call)
      if (expiresInSeconds < MIN_LINK_SECONDS || expiresInSeconds > MAX_LINK_SECONDS) {
        throw invalid([{ field: 'expires_in_seconds', message: `must be from ${MIN_LINK_SECONDS} to ${MAX_LINK_SECONDS}` }])
      }
      return links.set(key, expiresInSeconds, call.signal)
    },
    async deleteGuestLink({ collaborationId }, call) {
      await links.remove(await requireOwnEntry(collaborationId, call), call.signal)
      return {}
    },
    async getGuestReview({ token }, call) {
      const { link, key } = await requireLink(token, call)
      const entry = await entries.find(key, call.signal)
      if (!entry) throw reviewNotFound()
      const video = await guestVideos.find(entry.videoId, call)
      if (!video) throw reviewNotFound()
      const secondsLeft = Math.ceil((link.expireTime.getTime() - Date.now()) / 1_000)
      const playbackSeconds = Math.min(MAX_PLAYBACK_SECONDS, Math.max(1, secondsLeft))
      return {
        entry: toMessage(entry, undefined),
        expireTime: link.expireTime,
        videoTitle: video.title,
        durationSeconds: video.durationSeconds,
        playbackToken: await guestVideos.createPlaybackToken(entry.videoId, playbackSeconds, call),
      }
    },
    async createGuestClip({ token, clip: input }, call) {
      const { key } = await requireLink(token, call)
      const earlierResult = await clips.findCreated(call)
      if (earlierResult) return { clip: earlierResult }
      const head = await entries.findHead(key, call.signal)
      const video = head && (await clients.videos.find([head.videoId], call)).get(head.videoId)
      if (!video) throw reviewNotFound()
      const fields = checkClip({ ...ClipMessage.fromPartial(input ?? {}), title: '' }, ALL_FIELDS, video.durationSeconds)
      return { clip: await clips.create(key, fields, call) }
    },
    async deleteGuestClip({ token, clipId }, call) {
      const { key } = await requireLink(token, call)
      const found = await clips.find({ scope: key.scope, clipId }, call.signal)
      if (found?.clip.collaborationId !== key.collaborationId) {
        throw new DomainError('not_found', 'CLIP_NOT_FOUND', 'this review has no such clip')
      }
      return { clip: await clips.remove({ scope: key.scope, clipId }, call.signal) }
    },
  }
}

function reviewNotFound(): DomainError {
  return new DomainError('not_found', 'REVIEW_NOT_FOUND', 'the link to the review has ended; request a new one from the person who sent it')
}
