import type { Reader } from './read-environment.ts'

/** Storage of objects: a folder, or a bucket of an S3 store. */
export type ObjectStoreSettings =
  | { folder: string }
  | {
      s3: { endpoint: string; region: string; bucket: string; accessKeyId: string; secretAccessKey: string; virtualHost: boolean }
    }

/**
 * Reads `VITASCOPE_S3_*` if a bucket is set, else `VITASCOPE_STORAGE_DIR`. All processes that access objects use the
 * same settings.
 */
export function readObjectStore(read: Reader): ObjectStoreSettings {
  const bucket = read.optional('VITASCOPE_S3_BUCKET')
  if (bucket === undefined) return { folder: read.text('VITASCOPE_STORAGE_DIR') }
  const endpoint = read.url('VITASCOPE_S3_ENDPOINT', ['http:', 'https:'])
  if (endpoint === undefined) read.refuse('VITASCOPE_S3_ENDPOINT is missing')
  const accessKeyId = read.secret('VITASCOPE_S3_ACCESS_KEY_ID') ?? ''
  if (accessKeyId === '') read.refuse('VITASCOPE_S3_ACCESS_KEY_ID is missing')
  return {
    s3: {
      endpoint: endpoint ?? '',
      region: read.text('VITASCOPE_S3_REGION', 'us-east-1'),
      bucket,
      accessKeyId,
      secretAccessKey: read.secretFile('VITASCOPE_S3_SECRET_KEY_FILE'),
      virtualHost: read.flag('VITASCOPE_S3_VIRTUAL_HOST', false),
    },
  }
}

/**
 * Reads `VITASCOPE_DELIVERY_S3`: whether delivery proxies objects of a bucket or redirects to them. Without a bucket
 * it always serves the bytes.
 */
export function readDeliveryByS3(read: Reader): 'proxy' | 'redirect' {
  const how = read.oneOf('VITASCOPE_DELIVERY_S3', ['proxy', 'redirect'], 'proxy')
  if (how === 'redirect' && read.optional('VITASCOPE_S3_BUCKET') === undefined) {
    read.refuse('VITASCOPE_DELIVERY_S3 can be redirect only where VITASCOPE_S3_BUCKET names a bucket')
  }
  return how
}

/**
 * Returns the origin that delivery redirects viewers to, or undefined if it serves the bytes. For processes that do
 * not access objects.
 */
export function readRedirectOrigin(read: Reader): string | undefined {
  if (readDeliveryByS3(read) === 'proxy') return undefined
  const endpoint = read.url('VITASCOPE_S3_ENDPOINT', ['http:', 'https:'])
  if (endpoint === undefined || !URL.canParse(endpoint)) {
    read.refuse('VITASCOPE_S3_ENDPOINT is missing')
    return undefined
  }
  const url = new URL(endpoint)
  if (read.flag('VITASCOPE_S3_VIRTUAL_HOST', false)) url.hostname = `${read.optional('VITASCOPE_S3_BUCKET')}.${url.hostname}`
  return url.origin
}
