import { createHash, randomUUID } from 'node:crypto'
import { DomainError, type ErrorKind, isDomainError } from '@vitascope/errors'
import type { Client } from '@vitascope/grpc'
import type { MediaServiceService } from '@vitascope/proto/catalogue/v1/media'
import { UploadVideoRequest, type VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import type { Logger } from '@vitascope/telemetry'
import type { UploadQuota } from '../upload/upload-quota.ts'
import { readMetadata } from './tus-metadata.ts'
import type { TusError, TusStore, TusUpload } from './tus-store.ts'

const UPLOADS_PER_PASS = 50
/** Lifetime of the reservation of a complete upload that has no video yet. */
const RESERVATION_SECONDS = 86_400
const RESERVE_TIMEOUT_MS = 5_000
const FINAL_KINDS: readonly ErrorKind[] = ['invalid', 'forbidden', 'not_found', 'exists', 'failed_precondition']

/** Stores of a complete upload and of what it becomes. */
export interface FinishTools {
  uploads: TusStore
  videos: Pick<Client<typeof VideoServiceService>, 'uploadVideo'>
  media: Pick<Client<typeof MediaServiceService>, 'replaceSource'>
}

/**
 * Creates a video from a complete upload, or replaces the source of its media. Repeated calls do it
 * once. Returns the ids of the video and of its job. Throws the catalogue's error.
 */
export async function finishUpload(
  { uploads, videos, media }: FinishTools,
  upload: TusUpload,
  signal: AbortSignal,
): Promise<{ videoId: string; jobId: string }> {
  const { uploadId, organisationId, owner, mediaId, metadata, title, filename } = upload
  if (upload.videoId !== '') return { videoId: upload.videoId, jobId: upload.jobId }
  if (upload.error) throw toError(upload.error)
  const key = createHash('sha256').update(`tus upload ${uploadId}`).digest('hex')
  try {
    const sourceUrl = `tus://${uploadId}/${encodeURIComponent(filename)}`
    const call = { principal: owner, requestId: randomUUID(), signal, idempotency: { key, fingerprint: key } }
    const { videoId, jobId } =
      mediaId === undefined
        ? await videos.uploadVideo(
            UploadVideoRequest.create({
              ...{ organisationId, sourceUrl, name: title, notify: true, startsWaiting: true },
              visibility: readMetadata(metadata).visibility,
            }),
            call,
          )
        : await media.replaceSource({ mediaId, sourceUrl, organisationId, startsWaiting: true }, call)
    await uploads.setVideo(uploadId, { videoId, jobId })
    return { videoId, jobId }
  } catch (error) {
    if (isDomainError(error) && isFinal(error)) {
      await uploads.setError(uploadId, { kind: error.kind, reason: error.reason, message: error.message })
    }
    throw error
  }
}

/**
 * Returns true for an error after which the upload is not retried. A retry would not help, or it
 * would succeed at an unexpected time: a quota may have free bytes in a month.
 */
export function isFinal({ kind, reason }: DomainError): boolean {
  return FINAL_KINDS.includes(kind) || (kind === 'exhausted' && reason.startsWith('QUOTA_'))
}

/** Returns the error for a client that requests the upload. */
export function toError({ kind, reason, message }: TusError): DomainError {
  return new DomainError(kind, reason, message)
}

/**
 * Finishes uploads that were complete when a process died or while the catalogue was unavailable.
 */
export async function finishUploads(
  tools: FinishTools & { quota: Pick<UploadQuota, 'reserve' | 'release'>; log: Logger },
  signal: AbortSignal,
): Promise<void> {
  for (const upload of await tools.uploads.claimComplete(UPLOADS_PER_PASS)) {
    try {
      await finishUpload(tools, upload, signal)
      // The video has replaced the reservation. One that was renewed after a lost response would
      // count in addition to the video.
      await tools.quota.release(upload.uploadId)
    } catch (error) {
      if (signal.aborted) return
      if (!(isDomainError(error) && (isFinal(error) || error.reason === 'IDEMPOTENCY_RUNNING'))) await keepReserved(tools, upload)
      tools.log.warn({ err: error, upload_id: upload.uploadId }, 'creating a video from a complete upload failed')
    }
  }
}

/**
 * Renews the reservation, because a complete upload may wait for its video for days. It is not called while another
 * request creates the video (IDEMPOTENCY_RUNNING): the video replaces the reservation, and a renewal after that would
 * count in addition to it.
 */
async function keepReserved(
  { quota, log }: { quota: Pick<UploadQuota, 'reserve'>; log: Logger },
  { uploadId, organisationId, received }: TusUpload,
): Promise<void> {
  const reservation = { id: uploadId, organisationId, bytes: received, isOpen: true, lifetimeSeconds: RESERVATION_SECONDS }
  try {
    await quota.reserve(reservation, AbortSignal.timeout(RESERVE_TIMEOUT_MS))
  } catch (error) {
    log.warn({ err: error, upload_id: uploadId }, 'renewing the reserved bytes of an upload failed; retrying')
  }
}
