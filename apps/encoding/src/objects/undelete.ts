import { parseArgs } from 'node:util'
import { ConfigError } from '@vitascope/config'
import { isDomainError } from '@vitascope/errors'
import { restoreDeletedObjects } from '@vitascope/storage'
import { readBucketConfig } from './bucket-config.ts'

// node apps/encoding/src/objects/undelete.ts --since TIME: restores the objects of a bucket with
// versioning that were deleted at TIME or later.
const USAGE = 'usage: node apps/encoding/src/objects/undelete.ts --since TIME, with TIME such as 2026-01-31T12:00:00Z'
/** ISO 8601 with a time zone. A time without one would depend on the machine. */
const TIME_FORMAT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}([.]\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/

process.exitCode = await run(process.argv.slice(2))

async function run(args: readonly string[]): Promise<number> {
  const since = readSince(args)
  if (since === undefined) return fail(USAGE, 2)
  try {
    const restored = await restoreDeletedObjects(readBucketConfig(process.env), since)
    process.stdout.write(`${restored} deletions since ${since.toISOString()} were undone\n`)
    return 0
  } catch (error) {
    if (error instanceof ConfigError || isDomainError(error)) return fail(error.message, 1)
    throw error
  }
}

function readSince(args: readonly string[]): Date | undefined {
  try {
    const { values } = parseArgs({ args: [...args], options: { since: { type: 'string' } } })
    if (values.since === undefined || !TIME_FORMAT.test(values.since)) return undefined
    const time = new Date(values.since)
    return Number.isNaN(time.getTime()) ? undefined : time
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS')) return undefined
    throw error
  }
}

function fail(message: string, code: number): number {
  process.stderr.write(`${message}\n`)
  return code
}
