import { DomainError, notFound } from '@vitascope/errors'
import type { CaptionSummary } from '../caption/caption.ts'
import type { RenditionSet } from '../media/rendition-set.ts'
import type { Status } from '../media/status.ts'
import type { MetadataEntry } from '../metadata/metadata.ts'
import type { ShownOverlay } from '../overlay/overlay.ts'

export interface ContentExpiry {
  expireTime: Date | undefined
  message: string
}

export interface Location {
  country: string
  city: string
  postcode: string
  /** Degrees. */
  latitude?: number | undefined
  longitude?: number | undefined
}

/** What people change of a video; mediaTitle and tokenRequired are its media's. */
export interface VideoFields {
  title: string
  mediaTitle: string
  description: string
  descriptionPrivate: string
  language: string
  category: string
  publishedWidth: number | undefined
  publishedHeight: number | undefined
  enabled: boolean
  ageRating: string
  tags: string[]
  contentExpiry: ContentExpiry | undefined
  sharing: { text: string; embedWithinSocial: boolean }
  languages: { code: string; title: string }[]
  hd: { allow: boolean; auto: boolean }
  location: Location | undefined
  captionsShowOnLoad: string
  javascriptApiJson: string
  monetizationJson: string
  eventsTriggeredByClickJson: string
  presentationId: string
  settingId: string
  themeId: string
  contactFormId: string
  tokenRequired: boolean
  allowedIps: string[]
}

/** A video (publish) with what it shows of its media and organisation. */
export interface Video extends VideoFields {
  videoId: string
  mediaId: string
  organisationId: string
  organisationActive: boolean
  /** True when its own or its organisation's address rules bind. */
  ipRestricted: boolean
  creatorId: string
  lastModifiedById: string
  createTime: Date
  updateTime: Date
  status: Status
  renditions: RenditionSet | undefined
  /** Empty until something plays. */
  deliveryVersion: string
  /** By name. */
  metadata: MetadataEntry[]
  /** What the profile that it has says. */
  downloadAllowed: boolean
  /** Those of its media, oldest first. */
  captions: CaptionSummary[]
  /** Those of its media that are not disabled. */
  overlays: ShownOverlay[]
}

/** The fields of a new video that names nothing but its titles. */
export function plainFields(title: string): VideoFields {
  return {
    title,
    mediaTitle: title,
    description: '',
    descriptionPrivate: '',
    language: '',
    category: '',
    publishedWidth: undefined,
    publishedHeight: undefined,
    enabled: true,
    ageRating: '',
    tags: [],
    contentExpiry: undefined,
    sharing: { text: '', embedWithinSocial: false },
    languages: [],
    hd: { allow: true, auto: false },
    location: undefined,
    captionsShowOnLoad: '',
    javascriptApiJson: '',
    monetizationJson: '',
    eventsTriggeredByClickJson: '',
    presentationId: '',
    settingId: '',
    themeId: '',
    contactFormId: '',
    tokenRequired: false,
    allowedIps: [],
  }
}

/** The video as anybody may see it; refuses for one that only its organisation may see. */
export function asPublic(video: Video, now: Date): Video {
  const refusal = publicRefusal(video, now)
  if (refusal) throw refusal
  return { ...video, descriptionPrivate: '', allowedIps: [], metadata: video.metadata.filter((entry) => !entry.private) }
}

/** Those of several that anybody may see. */
export function onlyPublic(videos: readonly Video[], now: Date): Video[] {
  return videos.flatMap((video) => (publicRefusal(video, now) ? [] : asPublic(video, now)))
}

function publicRefusal(video: Video, now: Date): DomainError | undefined {
  if (!video.enabled || !video.organisationActive) return notFound('video', video.videoId)
  const expiry = video.contentExpiry
  if (expiry?.expireTime && expiry.expireTime <= now) {
    return new DomainError('not_found', 'VIDEO_EXPIRED', expiry.message || 'this video is no longer available')
  }
  return undefined
}

/** True when a change closes addresses that were open: they must stop to work at once. */
export function tightens(before: VideoFields, after: VideoFields): boolean {
  const disabled = before.enabled && !after.enabled
  const bound = after.allowedIps.length > 0 && after.allowedIps.join() !== before.allowedIps.join()
  return disabled || bound
}
