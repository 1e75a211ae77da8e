import { join } from 'node:path'
import { createOutbox, openPostgres } from '@vitascope/postgres'
import { createTestDatabase, testLog } from '@vitascope/testing'
import { createOrganisationStore } from '../src/organisation-replica/organisation-store.ts'
import { createJobStore } from '../src/publishing/job-store.ts'
import { createMediaStore } from '../src/publishing/media-store.ts'
import { createCaptionSearchIndexer } from '../src/video/caption-search-indexer.ts'
import { createPublishMedia } from '../src/video/publish-media.ts'
import type { Upload } from '../src/video/upload.ts'
import { createUploadStore } from '../src/video/upload-store.ts'
import type { VideoFields } from '../src/video/video-fields.ts'
import { createVideoStore } from '../src/video/video-store.ts'
import { buildOrganisation, buildRenditionSet, createCall, createUpload } from './builders.ts'

/** Creates a database for one test file, with the stores on it. The outbox keeps its messages. */
export async function catalogueDatabase() {
  const database = await createTestDatabase({ migrations: join(import.meta.dirname, '../migrations'), schema: 'catalogue' })
  const db = openPostgres({ url: database.url, schema: 'catalogue', log: testLog })
  const { enqueue } = createOutbox({ db, handlers: {}, log: testLog })
  const organisations = createOrganisationStore(db)
  for (const organisationId of ['1', '2']) await organisations.apply(buildOrganisation({ organisationId }))
  const uploads = createUploadStore(db, enqueue)
  const jobs = createJobStore(db, enqueue)
  return {
    url: database.url,
    db,
    enqueue,
    organisations,
    uploads,
    jobs,
    videos: createVideoStore(db),
    media: { ...createMediaStore(db, enqueue), publish: createPublishMedia(db) },
    /** The service does this periodically. */
    renewSpoken: () => createCaptionSearchIndexer(db, testLog).indexChanged(),
    /** Uploads a video. */
    upload: (fields: Partial<VideoFields> = {}, more: Partial<Upload> = {}) => uploads.accept(createUpload(fields, more), createCall()),
    /** Uploads a video and publishes a set for it. */
    async play(fields: Partial<VideoFields> = {}, more: Partial<Upload> = {}) {
      const upload = await uploads.accept(createUpload(fields, more), createCall())
      await jobs.apply(upload.jobId, { kind: 'published', renditions: buildRenditionSet(upload.jobId) }, 1)
      return upload
    },
    /** Returns the pending messages to encoding, oldest first. */
    messages: async () =>
      await db.query<{ topic: string; key: string; payload: { jobId: string } }>(
        `select topic, key, payload from outbox where topic <> 'cdn_purge' order by outbox_id`,
      ),
    async close() {
      await db.close()
      await database.drop()
    },
  }
}

export type CatalogueDatabase = Awaited<ReturnType<typeof catalogueDatabase>>
