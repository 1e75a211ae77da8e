import { Video as Message } from '@vitascope/proto/catalogue/v1/video'
import { toPosterMessage } from '../poster/poster-message.ts'
import { toStatusMessage } from '../publishing/media/status-message.ts'
import type { Video } from './video.ts'
import type { VideoFields } from './video-fields.ts'

export function toMessage({ organisationActive: _, status, poster, ...video }: Video): Message {
  return { ...video, status: toStatusMessage(status), poster: poster && toPosterMessage(poster) }
}

const encodedVideos = new WeakMap<Video, Buffer>()

/** Returns the encoded message of a video. It is stored for further calls with the same object. */
export function encodeVideo(video: Video): Buffer {
  const known = encodedVideos.get(video)
  if (known) return known
  const encoded = Buffer.from(Message.encode(toMessage(video)).finish())
  encodedVideos.set(video, encoded)
  return encoded
}

/** Returns the changeable fields of a message. Missing fields become empty. */
export function fromMessage(message: Message): VideoFields {
  const { publishedWidth, publishedHeight, contentExpiry, location } = message
  const { sharing = { text: '', embedWithinSocial: false }, hd = { allow: false, auto: false } } = message
  return { ...message, publishedWidth, publishedHeight, contentExpiry, location, sharing, hd }
}
