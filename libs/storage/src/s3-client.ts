import { S3Client } from '@aws-sdk/client-s3'
import { toCredentials } from './credentials.ts'
import type { ObjectStorage } from './object-storage.ts'
import type { SigningBucket } from './presigned-url.ts'
import { createS3Storage, type Encryption } from './s3-storage.ts'

/** Endpoint and credentials of one bucket in an S3 store. */
export type S3Options = SigningBucket & {
  /** Server-side encryption of written objects. By default, that of the bucket. */
  encryption?: Encryption
  /** Maximum number of connections to the store; 64 by default. */
  maxSockets?: number
}

/**
 * Opens a bucket as an object store. Requests are attempted at most three times. The timeouts are a
 * minute for each request and five seconds for a connection.
 */
export function openS3Storage(options: S3Options): ObjectStorage {
  const { bucket, encryption } = options
  return createS3Storage({ client: openS3Client(options), bucket, ...(encryption && { encryption }) })
}

export function openS3Client(options: S3Options): S3Client {
  const { endpoint, region, virtualHost = false, maxSockets = 64 } = options
  return new S3Client({
    endpoint,
    region,
    credentials: toCredentials(options),
    forcePathStyle: !virtualHost,
    maxAttempts: 3,
    // Some stores do not support the newer checksums of AWS.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 5_000, requestTimeout: 60_000, httpAgent: { maxSockets }, httpsAgent: { maxSockets } },
  })
}
