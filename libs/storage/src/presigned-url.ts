import { createHash, createHmac } from 'node:crypto'

/** A bucket and the keys that sign requests to it. */
export interface SigningBucket {
  /** `https://HOST[:PORT]`. */
  endpoint: string
  region: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  /** Whether the bucket is part of the host name. */
  virtualHost?: boolean
}

export interface SignedRequest {
  method: 'GET' | 'HEAD'
  /** A valid object name; none of its characters needs escaping. */
  name: string
  /** Time of the signature, in whole seconds. */
  now: Date
  /** Lifetime of the URL in seconds. */
  seconds: number
  /** Query parameters that change response headers, such as `response-content-type`. */
  answer: Readonly<Record<string, string>>
}

/**
 * Returns a presigned URL that allows reading one object for a limited time (AWS Signature Version 4, query
 * parameters).
 */
export function presignedUrl(bucket: SigningBucket, { method, name, now, seconds, answer }: SignedRequest): string {
  const url = objectUrl(bucket, name)
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  const date = time.slice(0, 8)
  const scope = `${date}/${bucket.region}/s3/aws4_request`
  const query = Object.entries({
    ...answer,
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': `${bucket.accessKeyId}/${scope}`,
    'X-Amz-Date': time,
    'X-Amz-Expires': String(seconds),
    'X-Amz-SignedHeaders': 'host',
  })
    .map(([field, value]) => `${escaped(field)}=${escaped(value)}`)
    .sort()
    .join('&')
  const request = [method, url.pathname, query, `host:${url.host}\n`, 'host', 'UNSIGNED-PAYLOAD'].join('\n')
  const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(request).digest('hex')].join('\n')
  const key = [date, bucket.region, 's3', 'aws4_request'].reduce<string | Buffer>(hmac, `AWS4${bucket.secretAccessKey}`)
  return `${url.href}?${query}&X-Amz-Signature=${hmac(key, text).toString('hex')}`
}

function objectUrl({ endpoint, bucket, virtualHost = false }: SigningBucket, name: string): URL {
  const url = new URL(endpoint)
  if (virtualHost) url.hostname = `${bucket}.${url.hostname}`
  url.pathname = ['', ...url.pathname.split('/').filter((part) => part !== ''), ...(virtualHost ? [] : [bucket]), name].join('/')
  return url
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

/** Escapes as AWS requires: everything except the unreserved characters of RFC 3986. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}
