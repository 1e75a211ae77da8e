import { BUCKET_USERS, type BucketUser } from '@vitascope/storage'

export const USAGE = `usage: node apps/encoding/src/objects/grant-rights.ts ${BUCKET_USERS.map((user) => `${user}=ACCESS_KEY_ID[,ACCESS_KEY_ID]`).join(' ')}`

/**
 * Parses `encoding=ID worker=ID,ID …`. Returns undefined unless each component has at least one id, and all ids are
 * distinct.
 */
export function readAccessKeyIds(args: readonly string[]): Record<BucketUser, readonly string[]> | undefined {
  const ids = new Map(args.map((arg) => arg.split('=', 2) as [string, string | undefined]))
  const pairs = BUCKET_USERS.map((user) => [user, (ids.get(user) ?? '').split(',')] as const)
  const all = pairs.flatMap(([, of]) => of)
  if (args.length !== BUCKET_USERS.length || all.includes('') || new Set(all).size !== all.length) return undefined
  return Object.fromEntries(pairs) as Record<BucketUser, string[]>
}
