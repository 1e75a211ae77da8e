import { S3Client } from '@aws-sdk/client-s3'
import { DomainError } from '@vitascope/errors'

/** A pair of keys, or no keys: the credentials are those of the identity of the process. */
export type AccessKeys = { accessKeyId: string; secretAccessKey: string } | { accessKeyId?: undefined; secretAccessKey?: undefined }

/** Keys, and for temporary ones the token and the time at which they expire. */
interface Credentials {
  accessKeyId: string
  secretAccessKey: string
  sessionToken?: string
  expiration?: Date
}

/**
 * Returns the keys, or a provider of temporary credentials. The provider is the default chain of the AWS SDK, which
 * reads its own variables (`AWS_ROLE_ARN` with `AWS_WEB_IDENTITY_TOKEN_FILE`, or `AWS_CONTAINER_CREDENTIALS_FULL_URI`).
 * It caches credentials, and replaces them in the background from five minutes before they expire.
 */
export function toCredentials(options: AccessKeys & { region: string }): Credentials | (() => Promise<Credentials>) {
  const { accessKeyId, secretAccessKey, region } = options
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
  if (error instanceof Error && '$metadata' in error)
    return `the token service rejected the identity of this process (${name}); check the role and its trust policy`
  if (name === 'CredentialsProviderError')
    return 'this process has no identity; set AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE, or AWS_CONTAINER_CREDENTIALS_FULL_URI'
  return 'the token service is unreachable, or the token of the process cannot be read'
}
