import type { ObjectStorage } from '@vitascope/storage'
import type { TusStore } from '../tus/tus-store.ts'
import { KEPT_SECONDS, type UploadStore } from './upload-store.ts'

const ROWS_A_ROUND = 200
const NAMES_AT_ONCE = 500

/**
 * Removes uploads that nobody came for in time: the row is marked first, so that nobody is told of an object that goes, and forgotten when the
 * object is gone; none while a backup copies. Then what lies below the prefix of uploads without a row: a form that was posted to an object store and never claimed.
 */
export async function sweepUploads(
  { uploads, tusUploads, storage }: { uploads: UploadStore; tusUploads: TusStore; storage: ObjectStorage },
  signal: AbortSignal,
): Promise<void> {
  for (const { uploadId, object } of await uploads.dropOld(ROWS_A_ROUND)) {
    signal.throwIfAborted()
    await storage.delete(object, signal)
    await uploads.forget(uploadId)
  }
  for (const uploadId of await tusUploads.dropOld(ROWS_A_ROUND)) {
    signal.throwIfAborted()
    await storage.deletePrefix(`tus/${uploadId}`, signal)
    await tusUploads.forget(uploadId)
  }
  if (await uploads.isHeld()) return
  let old: string[] = []
  const settle = async () => {
    const known = await uploads.known(old)
    for (const name of old) if (!known.has(name)) await storage.delete(name, signal)
    old = []
  }
  for await (const { name, modified } of storage.list('uploads', signal)) {
    if (Date.now() - modified.getTime() > KEPT_SECONDS * 1000) old.push(name)
    if (old.length === NAMES_AT_ONCE) await settle()
  }
  await settle()
}
