import type { Reader } from './read-environment.ts'

/** Where objects are kept: in a folder, or in a bucket of an S3 store. */
export type ObjectStoreSettings =
  | { folder: string }
  | {
      s3: { endpoint: string; region: string; bucket: string; accessKeyId: string; secretAccessKey: string; virtualHost: boolean }
    }

/** `VITASCOPE_S3_*` where a bucket is named, else `VITASCOPE_STORAGE_DIR`: the same for every process that touches objects. */
export function readObjectStore(read: Reader): ObjectStoreSettings {
  const bucket = read.optional('VITASCOPE_S3_BUCKET')
  if (bucket === undefined) return { folder: read.text('VITASCOPE_STORAGE_DIR') }
  const endpoint = read.url('VITASCOPE_S3_ENDPOINT', ['http:', 'https:'])
  if (endpoint === undefined) read.refuse('VITASCOPE_S3_ENDPOINT is missing')
  return {
    s3: {
      endpoint: endpoint ?? '',
      region: read.text('VITASCOPE_S3_REGION', 'us-east-1'),
      bucket,
      accessKeyId: read.text('VITASCOPE_S3_ACCESS_KEY_ID'),
      secretAccessKey: read.secretFile('VITASCOPE_S3_SECRET_KEY_FILE'),
      virtualHost: read.flag('VITASCOPE_S3_VIRTUAL_HOST', false),
    },
  }
}
