export type { Analytics } from './analytics.ts'
export type { Arguments } from './caller.ts'
export { type ClientErrorCode, type FieldError, VitascopeError } from './error.ts'
export type { ErrorCode } from './gen/contract.ts'
export type { Job, Jobs, JobWaitOptions } from './jobs.ts'
export type {
  CallArguments,
  CallOptions,
  OperationId,
  PagedOperationId,
  Payload,
  Query,
  RawBody,
  Result,
  Schemas,
} from './operation.ts'
export type { ItemOf, PageIterator } from './page-iterator.ts'
export type { Playback } from './playback.ts'
export type { Playlists } from './playlists.ts'
export {
  type FileKind,
  type PlaybackKey,
  type PlaybackTokenClaims,
  type PrivateKey,
  signPlaybackToken,
} from './sign-playback-token.ts'
export { isUploadOver, type TransferOptions, type UploadedVideo, type UploadProgress } from './upload/tus-upload.ts'
export { type TicketUploadOptions, type UploadOptions, uploadToTicket } from './upload/upload.ts'
export type { UploadInput, UploadSource } from './upload/upload-source.ts'
export { type VerifyOptions, verifyWebhook, type WebhookEvent, type WebhookHeaders } from './verify-webhook.ts'
export type { Video, Videos, WaitOptions } from './videos.ts'
export { Vitascope, type VitascopeOptions } from './vitascope.ts'
export type { PollOptions } from './wait.ts'
export type { Webhooks } from './webhooks.ts'
