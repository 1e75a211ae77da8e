import type { Location, Video } from '@vitascope/proto/catalogue/v1/video'
import type { z } from 'zod'
import { formatTimestamp } from '../dates.ts'
import { guestMetadataView, ownMetadataView } from '../metadata/metadata-view.ts'
import { videoOverlayView } from '../overlay/overlay-view.ts'
import { flagText, given, numberText, secondsText, timestampText } from '../public-form.ts'
import type { VideoRecord } from './video-record.ts'
import { videoStatusView } from './video-status.ts'
import { videoUriView } from './video-uri.ts'

type Shown = z.input<typeof VideoRecord>

/** What anybody may see. */
export function guestVideoView(video: Video, publicUrl: string): Shown {
  const set = video.renditions
  return {
    video_id: video.videoId,
    media_id: video.mediaId,
    organisation_id: video.organisationId,
    video_title: video.title,
    media_title: video.mediaTitle,
    description: video.description,
    language: video.language,
    category: video.category,
    published_width: numberText(video.publishedWidth ?? (set?.width || undefined)),
    published_height: numberText(video.publishedHeight ?? (set?.height || undefined)),
    enabled: flagText(video.enabled),
    duration: set ? secondsText(set.durationSeconds) : '',
    age_rating: video.ageRating,
    uri: videoUriView(video, publicUrl),
    sharing: {
      url: `${publicUrl}/player/${video.videoId}`,
      text: video.sharing?.text ?? '',
      embed_within_social: flagText(video.sharing?.embedWithinSocial),
    },
    content_expiry: {
      time: video.contentExpiry?.expireTime ? formatTimestamp(video.contentExpiry.expireTime) : null,
      message: video.contentExpiry?.message ?? '',
    },
    tags: video.tags.length > 0 ? video.tags : null,
    captions: {
      data: video.captions.map(({ captionId, title, language }) => ({ caption_id: captionId, title, language })),
      show_on_load: video.captionsShowOnLoad,
    },
    overlays: video.overlays.map(videoOverlayView),
    languages: video.languages.map(({ code, title }) => ({ code, title })),
    hd: { allow: flagText(video.hd?.allow), auto: flagText(video.hd?.auto) },
    javascript_api: jsonView(video.javascriptApiJson),
    location: video.location ? locationView(video.location) : null,
    analytics: null,
    events_triggered_by_click: jsonView(video.eventsTriggeredByClickJson),
    presentation_id: video.presentationId || null,
    monetization: jsonView(video.monetizationJson),
    security: { token_required_platform: video.tokenRequired, is_ip_restricted: video.ipRestricted },
    metadata: guestMetadataView(video.metadata),
    creator_id: video.creatorId,
    last_modified_by_id: video.lastModifiedById,
    created_at: timestampText(video.createTime),
    last_modified_at: timestampText(video.updateTime),
    setting_id: video.settingId,
    theme_id: video.themeId,
    contact_form_id: video.contactFormId,
    status: videoStatusView(given(video.status, 'the status of a video')),
  }
}

/** What its organisation and the system see. */
export function ownVideoView(video: Video, publicUrl: string): Shown {
  return { ...guestVideoView(video, publicUrl), description_private: video.descriptionPrivate, metadata: ownMetadataView(video.metadata) }
}

export function locationView(location: Location) {
  return {
    country: location.country,
    city: location.city,
    postcode: location.postcode,
    latitude: numberText(location.latitude),
    longitude: numberText(location.longitude),
  }
}

/** Only JSON objects of our own writing are stored. */
function jsonView(text: string): Record<string, unknown> | null {
  return text === '' ? null : (JSON.parse(text) as Record<string, unknown>)
}
