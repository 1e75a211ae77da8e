import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, once } from '@vitascope/postgres'
import { takeOrganisationFormats } from '../encoding-format/encoding-format-store.ts'
import { type Enqueue, enqueueCreated } from '../job/job-messages.ts'
import { insertJob } from '../job/new-job.ts'
import { insertMedia } from '../media/media-store.ts'
import { accepted, type Status } from '../media/status.ts'
import { UNKNOWN_SOURCE, workLimits } from '../quota/quota.ts'
import { reserve } from '../quota/reserve.ts'
import { needNamedRecords } from './named-records.ts'
import type { Upload } from './upload.ts'
import { insertVideo } from './video-store.ts'

/** What the uploader is told. */
export interface Accepted {
  videoId: string
  mediaId: string
  jobId: string
  status: Status
}

export interface UploadStore {
  /** Stores media, video, job and the word to encoding, all or nothing, and with an idempotency key once. */
  accept(upload: Upload, call: Pick<Call, 'idempotency' | 'signal'>): Promise<Accepted>
}

export function createUploadStore(db: Db, enqueue: Enqueue): UploadStore {
  return {
    accept: (upload, call) =>
      once(db, call, jsonCodec<Accepted>(), async (tx) => {
        const { videoId, mediaId, organisationId, userId, sourceUrl, fields, notify, givesWay } = upload
        await needNamedRecords(tx, organisationId, fields)
        const status = accepted(upload.startsWaiting)
        await insertMedia(tx, { mediaId, organisationId, title: fields.mediaTitle, originalFilename: upload.originalFilename, status })
        await insertVideo(tx, { ...fields, videoId, mediaId, organisationId, userId, plays: false })
        await takeOrganisationFormats(tx.query, { mediaId, organisationId })
        const { progress } = status
        const reserved = await reserve(tx, organisationId, UNKNOWN_SOURCE)
        const job = { videoId, mediaId, organisationId, progress, sourceUrl, notify, givesWay, userId, reserved }
        const jobId = await insertJob(tx, { ...job, action: 'new_video' })
        await enqueueCreated(enqueue, tx, { jobId, mediaId, organisationId, sourceUrl, givesWay, ...workLimits(reserved) })
        return { videoId, mediaId, jobId, status }
      }),
  }
}
