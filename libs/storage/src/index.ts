/** Opens a folder as an object storage. */
export { unsyncedDisk } from './disk.ts'
export { type FileStorageOptions, openFileStorage } from './file-storage.ts'
/** The form of names, for callers that build them. */
export { isObjectName } from './object-name.ts'
/** What every store offers, and the refusal of a range that an object cannot answer. */
export {
  type ByteRange,
  type ObjectInfo,
  type ObjectSource,
  type ObjectStorage,
  type OpenedObject,
  type PutOptions,
  type RangeRequest,
  resolveRange,
  type StoredBytes,
  UnsatisfiableRange,
} from './object-storage.ts'
/** Opens what the settings name. */
export { openStorage } from './open-storage.ts'
/** Leads a viewer to an object of a bucket for a while. */
export { presignedUrl, type SignedRequest, type SigningBucket } from './presigned-url.ts'
/** Opens a bucket of an S3 store. */
export { openS3Storage, type S3Options } from './s3-client.ts'
