import { createHash, createHmac } from 'node:crypto'

/** The bucket, and the keys that sign for it. */
export interface SigningBucket {
  /** `https://HOST[:PORT]`. */
  endpoint: string
  region: string
  bucket: string
  accessKeyId: string
  secretAccessKey: string
  /** Whether the bucket is a part of the host's name. */
  virtualHost?: boolean
}

export interface SignedRequest {
  method: 'GET' | 'HEAD'
  /** A well-formed name, whose characters need no escape. */
  name: string
  /** When it is signed; whole seconds count. */
  now: Date
  /** How long from then on it opens the object. */
  seconds: number
  /** Parameters that change the headers of the answer, such as `response-content-type`. */
  answer: Readonly<Record<string, string>>
}

/** The URL at which whoever holds it may read one object for a while (AWS Signature Version 4, in the query). */
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

/** As AWS has it: everything but the unreserved characters of RFC 3986. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
}
