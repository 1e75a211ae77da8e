import { S3Client } from '@aws-sdk/client-s3'
import type { ObjectStorage } from './object-storage.ts'
import { createS3Storage } from './s3-storage.ts'

/** Endpoint and credentials of one bucket in an S3 store. */
export interface S3Options {
  /** `https://HOST[:PORT]`. */
  endpoint: string
  region: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  /** Whether the bucket is part of the host name. By default it is the first part of the path. */
  virtualHost?: boolean
  /** Maximum number of connections to the store; 64 by default. */
  maxSockets?: number
}

/**
 * Opens a bucket as an object store. Requests are attempted at most three times. The timeouts are a
 * minute for each request and five seconds for a connection.
 */
export function openS3Storage(options: S3Options): ObjectStorage {
  return createS3Storage({ client: openS3Client(options), bucket: options.bucket })
}

export function openS3Client(options: S3Options): S3Client {
  const { endpoint, region, accessKeyId, secretAccessKey, virtualHost = false, maxSockets = 64 } = options
  return new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: !virtualHost,
    maxAttempts: 3,
    // Some stores do not support the newer checksums of AWS.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 5_000, requestTimeout: 60_000, httpAgent: { maxSockets }, httpsAgent: { maxSockets } },
  })
}
