import { createHash, randomUUID } from 'node:crypto'
import { DomainError, isDomainError, type RefusalKind } from '@vitascope/errors'
import type { Client } from '@vitascope/grpc'
import { UploadVideoRequest, type VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import type { Logger } from '@vitascope/telemetry'
import type { TusRefusal, TusStore, TusUpload } from './tus-store.ts'

const AT_ONCE = 50
const FINAL: readonly RefusalKind[] = ['invalid', 'forbidden', 'not_found', 'exists', 'refused']

/** Makes a video of a complete upload, once, however often it is tried. Answers its ids; refuses with what catalogue refused. */
export async function finishUpload(
  { uploads, videos }: { uploads: TusStore; videos: Pick<Client<typeof VideoServiceService>, 'uploadVideo'> },
  upload: TusUpload,
  signal: AbortSignal,
): Promise<{ videoId: string; jobId: string }> {
  const { uploadId, organisationId, owner, title, filename } = upload
  if (upload.videoId !== '') return { videoId: upload.videoId, jobId: upload.jobId }
  if (upload.refusal) throw refusalOf(upload.refusal)
  const key = createHash('sha256').update(`tus upload ${uploadId}`).digest('hex')
  const request = UploadVideoRequest.create({
    organisationId,
    sourceUrl: `tus://${uploadId}/${encodeURIComponent(filename)}`,
    name: title,
    notify: true,
    startsWaiting: true,
  })
  try {
    const { videoId, jobId } = await videos.uploadVideo(request, {
      principal: owner,
      requestId: randomUUID(),
      signal,
      idempotency: { key, fingerprint: key },
    })
    await uploads.made(uploadId, { videoId, jobId })
    return { videoId, jobId }
  } catch (error) {
    if (isDomainError(error) && isFinal(error)) {
      await uploads.refused(uploadId, { kind: error.kind, reason: error.reason, message: error.message })
    }
    throw error
  }
}

/** What a later try would not change, and what would come true at some time when nobody expects it: a quota may have room in a month. */
export function isFinal({ kind, reason }: DomainError): boolean {
  return FINAL.includes(kind) || (kind === 'exhausted' && reason.startsWith('QUOTA_'))
}

/** As it is told to whoever asks after the upload. */
export function refusalOf({ kind, reason, message }: TusRefusal): DomainError {
  return new DomainError(kind, reason, message)
}

/** Finishes what was complete when a process died, or while catalogue was away. */
export async function finishUploads(tools: Parameters<typeof finishUpload>[0] & { log: Logger }, signal: AbortSignal): Promise<void> {
  for (const upload of await tools.uploads.complete(AT_ONCE)) {
    try {
      await finishUpload(tools, upload, signal)
    } catch (error) {
      if (signal.aborted) return
      tools.log.warn({ err: error, upload: upload.uploadId }, 'a complete upload became no video')
    }
  }
}
