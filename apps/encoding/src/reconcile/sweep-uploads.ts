import type { RetainedTable } from '@vitascope/postgres'
import type { ObjectStorage } from '@vitascope/storage'
import type { TusStore } from '../tus/tus-store.ts'
import type { UploadQuota } from '../upload/upload-quota.ts'
import { RETENTION_SECONDS, type UploadStore } from '../upload/upload-store.ts'

const ROW_BATCH_SIZE = 200
const NAME_BATCH_SIZE = 500

export interface UploadSweepTools {
  uploads: UploadStore
  tusUploads: TusStore
  storage: ObjectStorage
  quota: Pick<UploadQuota, 'release'>
}

/**
 * Returns the retention of expired uploads. A row is marked as dropped before its object is
 * deleted, so that no reader opens the object. The row is removed after the object. While a backup
 * copies objects, no upload is removed.
 */
export function uploadRetention({ uploads, tusUploads, storage, quota }: UploadSweepTools): RetainedTable[] {
  return [
    {
      table: 'upload',
      limit: ROW_BATCH_SIZE,
      async remove(limit, signal) {
        const expired = await uploads.dropExpired(limit)
        for (const { uploadId, object } of expired) {
          signal.throwIfAborted()
          await storage.delete(object, signal)
          await uploads.deleteRow(uploadId)
          await quota.release(uploadId)
        }
        return expired.length
      },
    },
    {
      table: 'tus_upload',
      limit: ROW_BATCH_SIZE,
      async remove(limit, signal) {
        const expired = await tusUploads.dropExpired(limit)
        for (const uploadId of expired) {
          signal.throwIfAborted()
          await storage.deletePrefix(`tus/${uploadId}`, signal)
          await tusUploads.deleteRow(uploadId)
          await quota.release(uploadId)
        }
        return expired.length
      },
    },
  ]
}

/**
 * Deletes objects below the prefix of uploads that have no row: forms that were posted to an object
 * store and never claimed.
 */
export async function sweepUnclaimed(
  { uploads, storage }: Pick<UploadSweepTools, 'uploads' | 'storage'>,
  signal: AbortSignal,
): Promise<void> {
  if (await uploads.isSweepPaused()) return
  let expired: string[] = []
  const deleteUnrecorded = async () => {
    const recorded = await uploads.filterRecorded(expired)
    for (const name of expired) if (!recorded.has(name)) await storage.delete(name, signal)
    expired = []
  }
  for await (const { name, modified } of storage.list('uploads', signal)) {
    if (Date.now() - modified.getTime() > RETENTION_SECONDS * 1000) expired.push(name)
    if (expired.length === NAME_BATCH_SIZE) await deleteUnrecorded()
  }
  await deleteUnrecorded()
}
