import { DomainError, notFound } from '@vitascope/errors'
import type { CaptionSummary } from '../caption/caption.ts'
import type { MetadataEntry } from '../metadata/metadata.ts'
import type { OverlayContent } from '../overlay/overlay.ts'
import type { Poster } from '../poster/poster.ts'
import type { RenditionSet } from '../publishing/media/rendition-set.ts'
import type { Status } from '../publishing/media/status.ts'
import type { VideoFields } from './video-fields.ts'

/** A video (publish) with the data of its media and organisation. */
export interface Video extends VideoFields {
  videoId: string
  mediaId: string
  organisationId: string
  organisationActive: boolean
  /** True if the video or its organisation has an IP allowlist. */
  ipRestricted: boolean
  creatorId: string
  lastModifiedById: string
  createTime: Date
  updateTime: Date
  status: Status
  renditions: RenditionSet | undefined
  /** The picture that a user set, if any. */
  poster: Poster | undefined
  /** Empty until the video is playable or shows a picture. */
  deliveryVersion: string
  /** Ordered by name. */
  metadata: MetadataEntry[]
  /** The value of the effective profile. */
  downloadAllowed: boolean
  /** The captions of its media, oldest first. */
  captions: CaptionSummary[]
  /** The enabled overlays of its media. */
  overlays: OverlayContent[]
}

/**
 * Returns the public view of a video. Throws VIDEO_NOT_FOUND or VIDEO_EXPIRED if guests must not see the video. A private
 * video is shown to guests with a token of it.
 */
export function toPublicView(video: Video, now: Date, { hasToken = false } = {}): Video {
  const error = checkPublicAccess(video, now, hasToken)
  if (error) throw error
  const poster = video.poster && { ...video.poster, code: 0, reason: '' }
  return { ...video, poster, descriptionPrivate: '', allowedIps: [], metadata: video.metadata.filter((entry) => !entry.private) }
}

/** Returns the public views of the videos that guests see in lists. */
export function filterListed(videos: readonly Video[], now: Date): Video[] {
  return videos.flatMap((video) => (video.visibility !== 'public' || checkPublicAccess(video, now) ? [] : toPublicView(video, now)))
}

function checkPublicAccess(video: Video, now: Date, hasToken = false): DomainError | undefined {
  const isHidden = video.visibility === 'private' && !hasToken
  if (!video.enabled || isHidden || !video.organisationActive) return notFound('video', video.videoId)
  const expiry = video.contentExpiry
  if (expiry?.expireTime && expiry.expireTime <= now) {
    return new DomainError('not_found', 'VIDEO_EXPIRED', expiry.message || 'this video is no longer available')
  }
  return undefined
}

/** Returns whether a change restricts access, so that existing delivery URLs must stop working at once. */
export function restrictsAccess(before: VideoFields, after: VideoFields): boolean {
  const isDisabled = before.enabled && !after.enabled
  const isHidden = before.visibility !== 'private' && after.visibility === 'private'
  const isIpRestricted = after.allowedIps.length > 0 && after.allowedIps.join() !== before.allowedIps.join()
  return isDisabled || isHidden || isIpRestricted || expiresEarlier(before, after)
}

/**
 * Returns whether the video expires earlier than before. Caches keep public files until the expiry that was known when
 * they were loaded.
 */
function expiresEarlier(before: VideoFields, after: VideoFields): boolean {
  const [old, next] = [before.contentExpiry?.expireTime, after.contentExpiry?.expireTime]
  return next !== undefined && (old === undefined || next < old)
}
