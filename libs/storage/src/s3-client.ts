import { S3Client } from '@aws-sdk/client-s3'
import type { ObjectStorage } from './object-storage.ts'
import { createS3Storage } from './s3-storage.ts'

/** An S3 store, and the keys to one bucket in it. */
export interface S3Options {
  /** `https://HOST[:PORT]`. */
  endpoint: string
  region: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  /** Whether the bucket is a part of the host's name; by default it is the first part of the path. */
  virtualHost?: boolean
}

/** Opens a bucket as an object storage. Requests are tried three times; each has a minute, a connection five seconds. */
export function openS3Storage(options: S3Options): ObjectStorage {
  const { endpoint, region, bucket, accessKeyId, secretAccessKey, virtualHost = false } = options
  const client = new S3Client({
    endpoint,
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: !virtualHost,
    maxAttempts: 3,
    // Not every store knows the checksums that AWS has added.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: { connectionTimeout: 5_000, requestTimeout: 60_000, httpAgent: { maxSockets: 64 }, httpsAgent: { maxSockets: 64 } },
  })
  return createS3Storage({ client, bucket })
}
