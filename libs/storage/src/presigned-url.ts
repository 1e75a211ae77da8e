import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { S3RequestPresigner } from '@aws-sdk/s3-request-presigner'
import { type AccessKeys, type KeyedBucket, toCredentials } from './credentials.ts'

/** A bucket and the credentials that sign requests to it. */
export type SigningBucket = AccessKeys & KeyedBucket

export interface SignedRequest {
  method: 'GET' | 'HEAD'
  /** A valid object name; none of its characters needs escaping. */
  name: string
  /** Time of the signature. Milliseconds are dropped. */
  now: Date
  /** Lifetime of the URL in seconds. */
  seconds: number
  /** Query parameters that change response headers, such as `response-content-type`. */
  responseHeaders: Readonly<Record<string, string>>
}

/** Returns a presigned URL that allows reading one object for a limited time. */
export type PresignUrl = (request: SignedRequest) => Promise<string>

/**
 * Returns a signer for a bucket (AWS Signature Version 4, query parameters). It calls
 * the AWS presigner directly. A signature takes about 50 µs, and 300 µs with `getSignedUrl`.
 */
export function createUrlSigner(bucket: SigningBucket): PresignUrl {
  const presigner = new S3RequestPresigner({ region: bucket.region, credentials: toCredentials(bucket), sha256: NodeSha256 })
  return async ({ method, name, now, seconds, responseHeaders }) => {
    const url = objectUrl(bucket, name)
    const request = {
      method,
      protocol: url.protocol,
      hostname: url.hostname,
      ...(url.port !== '' && { port: Number(url.port) }),
      path: url.pathname,
      query: responseHeaders,
      headers: { host: url.host },
    }
    const { query } = await presigner.presign(request, { signingDate: now, expiresIn: seconds })
    const fields = Object.entries(query ?? {}).map(([field, value]) => `${escapeQuery(field)}=${escapeQuery(String(value))}`)
    return `${url.href}?${fields.join('&')}`
  }
}

/** SHA-256 and its HMAC with the interface that the presigner requires. */
class NodeSha256 {
  readonly #hash: Hash | Hmac

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', secret as string | Uint8Array)
  }

  update(data: string | ArrayBuffer | ArrayBufferView): void {
    this.#hash.update(data as string | Uint8Array)
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
}

function objectUrl({ endpoint, bucket, virtualHost = false }: SigningBucket, name: string): URL {
  const url = new URL(endpoint)
  if (virtualHost) url.hostname = `${bucket}.${url.hostname}`
  url.pathname = ['', ...url.pathname.split('/').filter((part) => part !== ''), ...(virtualHost ? [] : [bucket]), name].join('/')
  return url
}

/**
 * Escapes a query parameter as AWS requires: everything except the unreserved characters of RFC
 * 3986.
 */
function escapeQuery(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}
