import { readEnvironment, readObjectStore } from '@vitascope/config'
import type { S3Options } from '@vitascope/storage'

/**
 * Reads the bucket settings, with the keys of its owner. Throws a `ConfigError` that lists every
 * problem.
 */
export function readBucketConfig(env: NodeJS.ProcessEnv): S3Options {
  const read = readEnvironment(env)
  if (read.optional('VITASCOPE_S3_BUCKET') === undefined) read.addProblem('VITASCOPE_S3_BUCKET is missing')
  const objects = readObjectStore(read)
  read.check()
  if (!('s3' in objects)) throw new Error('unreachable: readObjectStore returns the settings of the bucket')
  return objects.s3
}
