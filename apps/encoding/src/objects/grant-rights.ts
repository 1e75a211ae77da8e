import { ConfigError } from '@vitascope/config'
import { grantBucketRights } from '@vitascope/storage'
import { readBucketConfig } from './bucket-config.ts'
import { readAccessKeyIds, USAGE } from './grant-config.ts'

// node apps/encoding/src/objects/grant-rights.ts: replaces the bucket policy with the permissions
// of each component.
try {
  const accessKeyIds = readAccessKeyIds(process.argv.slice(2))
  if (accessKeyIds === undefined) {
    process.stderr.write(`${USAGE}\n`)
    process.exitCode = 2
  } else await grantBucketRights(readBucketConfig(process.env), accessKeyIds, AbortSignal.timeout(60_000))
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 1
}
