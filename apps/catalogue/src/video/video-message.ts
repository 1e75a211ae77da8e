import type { Video as Message } from '@vitascope/proto/catalogue/v1/video'
import { toPosterMessage } from '../poster/poster-message.ts'
import { toStatusMessage } from '../publishing/media/status-message.ts'
import type { Video } from './video.ts'
import type { VideoFields } from './video-fields.ts'

export function toMessage({ organisationActive: _, status, poster, ...video }: Video): Message {
  return { ...video, status: toStatusMessage(status), poster: poster && toPosterMessage(poster) }
}

/** Returns the changeable fields of a message. Missing fields become empty. */
export function fromMessage(message: Message): VideoFields {
  const { publishedWidth, publishedHeight, contentExpiry, location } = message
  const { sharing = { text: '', embedWithinSocial: false }, hd = { allow: false, auto: false } } = message
  return { ...message, publishedWidth, publishedHeight, contentExpiry, location, sharing, hd }
}
