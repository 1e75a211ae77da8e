import { openFileStorage } from './file-storage.ts'
import type { ObjectStorage } from './object-storage.ts'
import { openS3Storage, type S3Options } from './s3-client.ts'

/** Opens the store of the settings. The options apply to an S3 store. */
export async function openStorage(
  store: { folder: string } | { s3: S3Options },
  options: Pick<S3Options, 'maxSockets' | 'onRequest' | 'keyListener'> = {},
): Promise<ObjectStorage> {
  return 's3' in store ? openS3Storage({ ...store.s3, ...options }) : openFileStorage({ root: store.folder })
}
