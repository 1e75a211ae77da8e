import { type Video as Message, VideoState, type VideoStatus } from '@vitascope/proto/catalogue/v1/video'
import type { Status } from '../media/status.ts'
import type { Video, VideoFields } from './video.ts'

const STATES: Record<Status['state'], VideoState> = {
  waiting: VideoState.VIDEO_STATE_WAITING,
  encoding: VideoState.VIDEO_STATE_ENCODING,
  ok: VideoState.VIDEO_STATE_OK,
  failed: VideoState.VIDEO_STATE_FAILED,
}

export function toStatusMessage(status: Status): VideoStatus {
  return { ...status, state: STATES[status.state] }
}

/** Undefined for all states. */
export function fromState(message: VideoState): Status['state'] | undefined {
  return (Object.keys(STATES) as Status['state'][]).find((state) => STATES[state] === message)
}

export function toMessage({ organisationActive: _, status, ...video }: Video): Message {
  return { ...video, status: toStatusMessage(status) }
}

/** The changeable fields of a message; what is absent counts as empty. */
export function fromMessage(message: Message): VideoFields {
  return {
    title: message.title,
    mediaTitle: message.mediaTitle,
    description: message.description,
    descriptionPrivate: message.descriptionPrivate,
    language: message.language,
    category: message.category,
    publishedWidth: message.publishedWidth,
    publishedHeight: message.publishedHeight,
    enabled: message.enabled,
    ageRating: message.ageRating,
    tags: message.tags,
    contentExpiry: message.contentExpiry && { expireTime: message.contentExpiry.expireTime, message: message.contentExpiry.message },
    sharing: message.sharing ?? { text: '', embedWithinSocial: false },
    languages: message.languages,
    hd: message.hd ?? { allow: false, auto: false },
    location: message.location,
    captionsShowOnLoad: message.captionsShowOnLoad,
    javascriptApiJson: message.javascriptApiJson,
    monetizationJson: message.monetizationJson,
    eventsTriggeredByClickJson: message.eventsTriggeredByClickJson,
    presentationId: message.presentationId,
    settingId: message.settingId,
    themeId: message.themeId,
    contactFormId: message.contactFormId,
    tokenRequired: message.tokenRequired,
    allowedIps: message.allowedIps,
  }
}
