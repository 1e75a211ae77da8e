import type { Video as Message } from '@vitascope/proto/catalogue/v1/video'
import { toStatusMessage } from '../publishing/media/status-message.ts'
import type { Video, VideoFields } from './video.ts'

export function toMessage({ organisationActive: _, status, ...video }: Video): Message {
  return { ...video, status: toStatusMessage(status) }
}

/** Returns the changeable fields of a message. Absent fields become empty. */
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
