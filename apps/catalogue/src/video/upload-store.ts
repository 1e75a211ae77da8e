import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, withIdempotency } from '@vitascope/postgres'
import { copyOrganisationFormats } from '../publishing/encoding-format/encoding-format-store.ts'
import { type Enqueue, enqueueCreated } from '../publishing/job/job-messages.ts'
import { insertJob } from '../publishing/job/new-job.ts'
import { createAcceptedStatus, type Status } from '../publishing/media/status.ts'
import { insertMedia } from '../publishing/media-store.ts'
import { parseUploadId, toJobLimits, URL_SOURCE_WORK } from '../quota/quota.ts'
import { reserve } from '../quota/reserve.ts'
import { requireReferencedRecords } from './check-references.ts'
import type { Upload } from './upload.ts'
import { insertVideo } from './video-store.ts'

/** The result of an accepted upload. */
export interface AcceptedUpload {
  videoId: string
  mediaId: string
  jobId: string
  status: Status
}

/** `repeatedCall` is true if the result is that of an earlier call with the same idempotency key. */
export type UploadResult = AcceptedUpload & { repeatedCall: boolean }

export interface UploadStore {
  /**
   * Stores media, video, job and the outbox message to encoding in one transaction. Repeated calls with
   * one idempotency key store one upload.
   */
  accept(upload: Upload, call: Pick<Call, 'idempotency' | 'signal'>): Promise<UploadResult>
}

export function createUploadStore(db: Db, enqueue: Enqueue): UploadStore {
  return {
    async accept(upload, call) {
      let repeatedCall = true
      const accepted = await withIdempotency(db, call, jsonCodec<AcceptedUpload>(), async (tx) => {
        repeatedCall = false
        const { videoId, mediaId, organisationId, userId, sourceUrl, fields, notify, lowPriority } = upload
        await requireReferencedRecords(tx, organisationId, fields)
        const status = createAcceptedStatus(upload.startsWaiting)
        await insertMedia(tx, { mediaId, organisationId, title: fields.mediaTitle, originalFilename: upload.originalFilename, status })
        await insertVideo(tx, { ...fields, videoId, mediaId, organisationId, userId, isPlayable: false })
        await copyOrganisationFormats(tx.query, { mediaId, organisationId })
        const { progress } = status
        const reserved = await reserve(tx, organisationId, { ...URL_SOURCE_WORK, uploadId: parseUploadId(sourceUrl) })
        const job = { videoId, mediaId, organisationId, progress, sourceUrl, notify, lowPriority, userId, reserved }
        const jobId = await insertJob(tx, { ...job, action: 'new_video' })
        await enqueueCreated(enqueue, tx, { jobId, mediaId, organisationId, sourceUrl, lowPriority, ...toJobLimits(reserved) })
        return { videoId, mediaId, jobId, status }
      })
      return { ...accepted, repeatedCall }
    },
  }
}
