/** Keys of a bucket in files that are read again. */
export { type AccessKeyFiles, type AccessKeyListener, type AccessKeyPair, type KeyFileBucket, watchAccessKeys } from './access-key-files.ts'
/** Policies that grant components their rights in a bucket. */
export {
  BUCKET_USERS,
  type BucketUser,
  buildBucketRights,
  grantBucketRights,
  type PolicyStatement,
} from './bucket-rights.ts'
/** Object store in a folder. */
export { unsyncedDisk } from './disk.ts'
export { type FileStorageOptions, openFileStorage } from './file-storage.ts'
/** First segments of the names of objects that have rows. */
export { findArea, OBJECT_AREAS, type ObjectArea } from './object-areas.ts'
/** Syntax of object names, for callers that build them. */
export { isObjectName } from './object-name.ts'
/** Interface of all stores, and the error for an unsatisfiable range. */
export {
  type ByteRange,
  type FileSource,
  type ObjectHandle,
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
/** Opens the store of the settings. */
export { openStorage } from './open-storage.ts'
/** Reads for clients that may be slow. */
export { createPiecewiseReads, DEFAULT_PIECEWISE_BOUNDS, type PiecewiseBounds, type PiecewiseReads } from './piecewise-reads.ts'
/** Temporary URLs of objects in a bucket. */
export { createUrlSigner, type PresignUrl, type SignedRequest, type SigningBucket } from './presigned-url.ts'
/** Restores what was deleted from a bucket with versioning. */
export { restoreDeletedObjects } from './restore-deleted.ts'
/** A bucket of an S3 store. */
export { openS3Storage, type S3Options } from './s3-client.ts'
/** Classification of errors as failures of the storage. */
export { isStorageFailure } from './storage-failure.ts'
