import { readEnvironment, readObjectStore } from '@vitascope/config'
import { BUCKET_USERS, type BucketUser, type S3Options } from '@vitascope/storage'

export const USAGE = `usage: node apps/encoding/src/objects/grant-rights.ts ${BUCKET_USERS.map((user) => `${user}=ACCESS_KEY_ID`).join(' ')}`

/**
 * Reads the bucket settings, with the keys of its owner. Throws a `ConfigError` that lists every
 * problem.
 */
export function readGrantConfig(env: NodeJS.ProcessEnv): S3Options {
  const read = readEnvironment(env)
  if (read.optional('VITASCOPE_S3_BUCKET') === undefined) read.addProblem('VITASCOPE_S3_BUCKET is missing')
  const objects = readObjectStore(read)
  read.check()
  if (!('s3' in objects)) throw new Error('unreachable: readObjectStore returns the settings of the bucket')
  return objects.s3
}

/** Parses `encoding=ID worker=ID …`. Returns undefined unless each component has a distinct id. */
export function readAccessKeyIds(args: readonly string[]): Record<BucketUser, string> | undefined {
  const ids = new Map(args.map((arg) => arg.split('=', 2) as [string, string | undefined]))
  const pairs = BUCKET_USERS.map((user) => [user, ids.get(user) ?? ''] as const)
  const isComplete = args.length === BUCKET_USERS.length && pairs.every(([, id]) => id !== '')
  if (!isComplete || new Set(pairs.map(([, id]) => id)).size !== BUCKET_USERS.length) return undefined
  return Object.fromEntries(pairs) as Record<BucketUser, string>
}
