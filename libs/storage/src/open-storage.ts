import { openFileStorage } from './file-storage.ts'
import type { ObjectStorage } from './object-storage.ts'
import { openS3Storage, type S3Options } from './s3-client.ts'

/** Opens the store that the settings name. */
export async function openStorage(store: { folder: string } | { s3: S3Options }): Promise<ObjectStorage> {
  return 's3' in store ? openS3Storage(store.s3) : openFileStorage({ root: store.folder })
}
