import { S3Client, S3ServiceException } from '@aws-sdk/client-s3'
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
  /** Called after each request to the store. */
  onRequest?: (request: StoreRequest) => void
}

/** A finished request to an object store. */
export interface StoreRequest {
  /** Operation of the S3 API, such as `GetObject`. */
  operation: string
  /** `missing` if the object does not exist, and `failed` for all other errors. */
  outcome: 'ok' | 'missing' | 'failed'
  /** Time until the headers of the response, with all attempts. */
  seconds: number
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
  const { endpoint, region, virtualHost = false, maxSockets = 64, onRequest } = options
  const client = new S3Client({
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
  if (onRequest) {
    client.middlewareStack.add(
      (next, context) => async (args) => {
        const start = performance.now()
        let outcome: StoreRequest['outcome'] = 'failed'
        try {
          const result = await next(args)
          outcome = 'ok'
          return result
        } catch (error) {
          if (isMissing(error)) outcome = 'missing'
          throw error
        } finally {
          const operation = String(context['commandName']).replace(/Command$/, '')
          onRequest({ operation, outcome, seconds: (performance.now() - start) / 1_000 })
        }
      },
      { step: 'initialize', name: 'observeRequests' },
    )
  }
  return client
}

function isMissing(error: unknown): boolean {
  return error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404
}
