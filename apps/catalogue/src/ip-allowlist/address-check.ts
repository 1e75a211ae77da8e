import type { Db } from '@vitascope/postgres'
import { isAddressAllowed, parseAddressRules } from '@vitascope/security'

export interface AddressCheck {
  pass: string[]
  fail: string[]
}

/** Returns the effective IP allowlist of each existing video. */
export type FindAllowedIps = (videoIds: readonly string[], signal?: AbortSignal) => Promise<ReadonlyMap<string, readonly string[]>>

/** Sorts video ids by whether the address may access the video. Unknown ids fail. */
export async function checkAddress(
  find: FindAllowedIps,
  { address, videoIds }: { address: string; videoIds: readonly string[] },
  signal?: AbortSignal,
): Promise<AddressCheck> {
  const rules = await find(videoIds, signal)
  const isAllowed = (videoId: string): boolean => {
    const texts = rules.get(videoId)
    if (!texts) return false
    const parsed = parseAddressRules(texts)
    // Only valid rules are stored. If a rule is invalid, no address is allowed.
    return parsed.rules !== undefined && isAddressAllowed(address, parsed.rules)
  }
  const passedIds = new Set(videoIds.filter(isAllowed))
  return { pass: [...passedIds], fail: videoIds.filter((videoId) => !passedIds.has(videoId)) }
}

/**
 * SQL for the IP allowlist of a `video v` of `organisation o`: the video's own list, or the
 * organisation's if that is empty.
 */
export const EFFECTIVE_ALLOWED_IPS = `case when v.allowed_ips = '{}' then o.allowed_ips else v.allowed_ips end`

/** Returns a function that reads the allowlists that delivery enforces. */
export function createFindAllowedIps(db: Db): FindAllowedIps {
  return async (videoIds, signal) => {
    signal?.throwIfAborted()
    const rows = await db.query<{ video_id: string; allowed_ips: string[] }>(
      `select v.video_id, ${EFFECTIVE_ALLOWED_IPS} as allowed_ips
       from video v join organisation o on o.organisation_id = v.organisation_id where v.video_id = any($1::bigint[])`,
      [videoIds],
    )
    return new Map(rows.map((row) => [row.video_id, row.allowed_ips]))
  }
}
