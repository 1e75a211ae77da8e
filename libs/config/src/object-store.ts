import type { Reader } from './read-environment.ts'

const BUCKET = {
  description: 'Bucket that stores objects in place of the storage folder. See [S3](../operate/storage.md#s3).',
}
/** `VITASCOPE_S3_ENDPOINT` */
export const S3_ENDPOINT = {
  protocols: ['http:', 'https:'],
  defaultText: 'required with a bucket',
  description: 'URL of the object store of the bucket.',
}
const STORAGE_DIR = {
  defaultText: 'required without a bucket',
  description: 'Storage folder.',
}
const VIRTUAL_HOST = {
  fallback: false,
  description: '1: the bucket is the first label of the host name. 0: it is the first part of the path.',
}

/** A pair of keys, or no keys: the credentials are those of the identity of the process. */
type AccessKeys =
  | { accessKeyId: string; secretAccessKey: string; keyFiles?: { accessKeyId?: string; secretAccessKey: string } }
  | { accessKeyId?: undefined; secretAccessKey?: undefined; keyFiles?: undefined }

/** Server-side encryption of written objects. Without a key id, the store uses its own key of KMS. */
type Encryption = { algorithm: 'AES256' } | { algorithm: 'aws:kms'; kmsKeyId?: string }

/** Storage of objects: a folder, or a bucket of an S3 store. */
export type ObjectStoreSettings =
  | { folder: string }
  | { s3: { endpoint: string; region: string; bucket: string; virtualHost: boolean; encryption?: Encryption } & AccessKeys }

/**
 * Reads `VITASCOPE_S3_*` if a bucket is set, else `VITASCOPE_STORAGE_DIR`. All processes that access objects use the
 * same settings.
 */
export function readObjectStore(read: Reader): ObjectStoreSettings {
  const bucket = read.optional('VITASCOPE_S3_BUCKET', BUCKET)
  if (bucket === undefined) return { folder: read.text('VITASCOPE_STORAGE_DIR', STORAGE_DIR) }
  const endpoint = read.url('VITASCOPE_S3_ENDPOINT', S3_ENDPOINT)
  if (endpoint === undefined) read.addProblem('VITASCOPE_S3_ENDPOINT is missing')
  const encryption = readEncryption(read)
  return {
    s3: {
      endpoint: endpoint ?? '',
      region: read.text('VITASCOPE_S3_REGION', { fallback: 'us-east-1', description: 'Region of the bucket.' }),
      bucket,
      virtualHost: read.flag('VITASCOPE_S3_VIRTUAL_HOST', VIRTUAL_HOST),
      ...(encryption && { encryption }),
      ...readAccessKeys(read),
    },
  }
}

/** Reads `VITASCOPE_S3_ENCRYPTION` and `VITASCOPE_S3_KMS_KEY`. Returns undefined for `none`. */
function readEncryption(read: Reader): Encryption | undefined {
  const algorithm = read.oneOf('VITASCOPE_S3_ENCRYPTION', {
    words: ['none', 'AES256', 'aws:kms'],
    fallback: 'none',
    description:
      'Server-side encryption that each write requests: `AES256` (SSE-S3) or `aws:kms` (SSE-KMS). `none`: the default of the bucket. See [Encryption](../operate/storage.md#encryption).',
  })
  const kmsKeyId = read.optional('VITASCOPE_S3_KMS_KEY', {
    defaultText: 'the key of the store',
    description: 'Id or ARN of the KMS key for `VITASCOPE_S3_ENCRYPTION=aws:kms`.',
  })
  if (kmsKeyId !== undefined && algorithm !== 'aws:kms')
    read.addProblem('VITASCOPE_S3_KMS_KEY can be set only with VITASCOPE_S3_ENCRYPTION=aws:kms')
  if (algorithm === 'none') return undefined
  return algorithm === 'AES256' ? { algorithm } : { algorithm, ...(kmsKeyId !== undefined && { kmsKeyId }) }
}

/** Reads the access key of the bucket. Both of its settings must be missing with `VITASCOPE_S3_CREDENTIALS=identity`. */
function readAccessKeys(read: Reader): AccessKeys {
  const credentials = read.oneOf('VITASCOPE_S3_CREDENTIALS', {
    words: ['secret', 'identity'],
    fallback: 'secret',
    description:
      '`secret`: the access key below. `identity`: temporary credentials for the identity of the process, such as that of its pod. See [Credentials of pods](../operate/storage.md#credentials-of-pods).',
  })
  const accessKeyId = read.secret('VITASCOPE_S3_ACCESS_KEY_ID', {
    defaultText: 'required with a bucket and `VITASCOPE_S3_CREDENTIALS=secret`',
    description: 'Id of the access key of the bucket.',
  })
  if (credentials === 'identity') {
    for (const name of ['VITASCOPE_S3_ACCESS_KEY_ID', 'VITASCOPE_S3_ACCESS_KEY_ID_FILE', 'VITASCOPE_S3_SECRET_KEY_FILE'])
      if (read.optional(name) !== undefined) read.addProblem(`${name} must not be set with VITASCOPE_S3_CREDENTIALS=identity`)
    return {}
  }
  if (accessKeyId === undefined) read.addProblem('VITASCOPE_S3_ACCESS_KEY_ID is missing')
  const secretAccessKey = read.secretFile('VITASCOPE_S3_SECRET_KEY_FILE', {
    defaultText: 'required with a bucket and `VITASCOPE_S3_CREDENTIALS=secret`',
    description: 'File with the secret of the access key of the bucket. Services [read it again](../operate/rotate-keys.md#s3-keys).',
  })
  // The value of a variable cannot change while the process runs, but its file can.
  const idFile = read.optional('VITASCOPE_S3_ACCESS_KEY_ID') === undefined ? read.optional('VITASCOPE_S3_ACCESS_KEY_ID_FILE') : undefined
  const secretFile = read.optional('VITASCOPE_S3_SECRET_KEY_FILE') ?? ''
  return {
    accessKeyId: accessKeyId ?? '',
    secretAccessKey,
    keyFiles: { ...(idFile !== undefined && { accessKeyId: idFile }), secretAccessKey: secretFile },
  }
}

/**
 * Reads `VITASCOPE_DELIVERY_S3`: whether delivery proxies objects of a bucket or redirects to them. Without a bucket
 * it always serves the bytes.
 */
export function readDeliveryS3Mode(read: Reader): 'proxy' | 'redirect' {
  const mode = read.oneOf('VITASCOPE_DELIVERY_S3', {
    words: ['proxy', 'redirect'],
    fallback: 'proxy',
    description:
      '`redirect`: viewers are redirected to an address of the bucket that is valid for five minutes, and the player page allows that origin. See [Redirects to the bucket](../operate/storage.md#redirects-to-the-bucket).',
  })
  if (mode === 'redirect' && read.optional('VITASCOPE_S3_BUCKET', BUCKET) === undefined) {
    read.addProblem('VITASCOPE_DELIVERY_S3 can be redirect only where VITASCOPE_S3_BUCKET names a bucket')
  }
  return mode
}

/**
 * Returns the origin that delivery redirects viewers to, or undefined if it serves the bytes. For processes that do
 * not access objects.
 */
export function readRedirectOrigin(read: Reader): string | undefined {
  if (readDeliveryS3Mode(read) === 'proxy') return undefined
  const endpoint = read.url('VITASCOPE_S3_ENDPOINT', S3_ENDPOINT)
  if (endpoint === undefined || !URL.canParse(endpoint)) {
    read.addProblem('VITASCOPE_S3_ENDPOINT is missing')
    return undefined
  }
  const url = new URL(endpoint)
  if (read.flag('VITASCOPE_S3_VIRTUAL_HOST', VIRTUAL_HOST)) url.hostname = `${read.optional('VITASCOPE_S3_BUCKET')}.${url.hostname}`
  return url.origin
}
