import { S3Client } from '@aws-sdk/client-s3'
import { DomainError } from '@vitascope/errors'
import { type AccessKeyFiles, type AccessKeyListener, type AccessKeyPair, watchAccessKeys } from './access-key-files.ts'

/**
 * A pair of keys, or no keys: the credentials are those of the identity of the process. `keyFiles` are the files of the
 * pair, which are read again.
 */
export type AccessKeys =
  | (AccessKeyPair & { keyFiles?: AccessKeyFiles; keyListener?: AccessKeyListener })
  | { accessKeyId?: undefined; secretAccessKey?: undefined; keyFiles?: undefined; keyListener?: AccessKeyListener }

/** The bucket that the keys belong to. */
export interface KeyedBucket {
  /** `https://HOST[:PORT]`. */
  endpoint: string
  region: string
  bucket: string
  /** Whether the bucket is part of the host name. By default it is the first part of the path. */
  virtualHost?: boolean
}

/** Keys, and for temporary ones the token and the time at which they expire. */
interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
  expiration?: Date
}

/**
 * Expiry of keys of files. The AWS SDK calls a provider again from five minutes before the expiry, so with one minute it
 * calls the provider for each request.
 */
const FILE_KEYS_EXPIRE_MS = 60_000

/**
 * Returns the keys, or a provider of keys that may change: those of files, or temporary credentials. The provider of
 * temporary credentials is the default chain of the AWS SDK, which reads its own variables (`AWS_ROLE_ARN` with
 * `AWS_WEB_IDENTITY_TOKEN_FILE`, or `AWS_CONTAINER_CREDENTIALS_FULL_URI`). It caches credentials, and replaces them in
 * the background from five minutes before they expire. It throws STORAGE_CREDENTIALS_UNAVAILABLE if there are none.
 */
export function toCredentials(options: AccessKeys & KeyedBucket): Credentials | (() => Promise<Credentials>) {
  const { accessKeyId, secretAccessKey, keyFiles, region } = options
  if (keyFiles !== undefined) {
    const currentKeys = watchAccessKeys({ ...options, keyFiles })
    return async () => ({ ...(await currentKeys()), expiration: new Date(Date.now() + FILE_KEYS_EXPIRE_MS) })
  }
  if (accessKeyId !== undefined) return { accessKeyId, secretAccessKey }
  // This client sends no request to a store. Its settings also apply to requests to the token service.
  const { config } = new S3Client({ region, requestHandler: { connectionTimeout: 5_000, requestTimeout: 10_000 } })
  return async () => {
    try {
      return await config.credentials()
    } catch (error) {
      throw new DomainError('unavailable', 'STORAGE_CREDENTIALS_UNAVAILABLE', `no credentials for the object store: ${describe(error)}`, {
        retryAfter: 5,
        cause: error,
      })
    }
  }
}

/** Returns the reason without the texts of the token service, which contain names of accounts. */
function describe(error: unknown): string {
  const name = error instanceof Error ? error.name : 'Error'
  const status = readStatus(error)
  if (status !== undefined && status >= 500) return `the token service failed (HTTP ${status})`
  if (status !== undefined) return `the token service rejected the identity of this process (${name}); check the role and its trust policy`
  const agent = findAgent()
  if (agent !== undefined) {
    return `the credential agent at ${agent} returned no credentials; check that it runs on this node, that network policies allow connections to it, and that the service account is associated with a role`
  }
  if (name === 'CredentialsProviderError')
    return 'this process has no identity; set AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE, or AWS_CONTAINER_CREDENTIALS_FULL_URI'
  return 'the token service is unreachable, or the token of the process cannot be read'
}

/**
 * Returns the address of the credential agent of the node, without the path, which may be a secret. Returns undefined if
 * the AWS SDK does not use an agent: it prefers the token of a role.
 */
function findAgent(): string | undefined {
  const { env } = process
  if (env['AWS_ROLE_ARN'] && env['AWS_WEB_IDENTITY_TOKEN_FILE']) return undefined
  // The AWS SDK prefers the relative address, of which the agent of ECS is the origin.
  if (env['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI']) return 'http://169.254.170.2'
  const address = env['AWS_CONTAINER_CREDENTIALS_FULL_URI']
  if (!address) return undefined
  return URL.canParse(address) ? new URL(address).origin : 'the address in AWS_CONTAINER_CREDENTIALS_FULL_URI'
}

/**
 * Returns the HTTP status of the response of the token service, or undefined if there was none. The AWS SDK also adds
 * `$metadata`, without a status, to the errors of requests without a response.
 */
function readStatus(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata?.httpStatusCode
}
