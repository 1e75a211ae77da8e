import { BUCKET_USERS, type BucketUser } from '@vitascope/storage'

export const USAGE = `usage: node apps/encoding/src/objects/grant-rights.ts ${BUCKET_USERS.map((user) => `${user}=ACCESS_KEY_ID`).join(' ')}`

/** Parses `encoding=ID worker=ID …`. Returns undefined unless each component has a distinct id. */
export function readAccessKeyIds(args: readonly string[]): Record<BucketUser, string> | undefined {
  const ids = new Map(args.map((arg) => arg.split('=', 2) as [string, string | undefined]))
  const pairs = BUCKET_USERS.map((user) => [user, ids.get(user) ?? ''] as const)
  const isComplete = args.length === BUCKET_USERS.length && pairs.every(([, id]) => id !== '')
  if (!isComplete || new Set(pairs.map(([, id]) => id)).size !== BUCKET_USERS.length) return undefined
  return Object.fromEntries(pairs) as Record<BucketUser, string>
}
