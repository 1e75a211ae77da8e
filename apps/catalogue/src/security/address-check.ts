import { addressAllowed, parseAddressRules } from '@vitascope/access'
import type { Db } from '@vitascope/postgres'
import { BINDING_IPS } from '../delivery-rule/binding-ips.ts'

export interface AddressCheck {
  pass: string[]
  fail: string[]
}

/** The rules that bind each of the videos that are there. */
export type FindAllowedIps = (videoIds: readonly string[], signal?: AbortSignal) => Promise<ReadonlyMap<string, readonly string[]>>

/** Sorts ids by whether the address may have the video's files; what leads nowhere fails. */
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
    // Only checked rules are stored; one that cannot be read lets nobody in.
    return parsed.rules !== undefined && addressAllowed(address, parsed.rules)
  }
  const pass = new Set(videoIds.filter(isAllowed))
  return { pass: [...pass], fail: videoIds.filter((videoId) => !pass.has(videoId)) }
}

/** As delivery has them: a video's own rules, else those of its organisation. */
export function findAllowedIpsIn(db: Db): FindAllowedIps {
  return async (videoIds, signal) => {
    signal?.throwIfAborted()
    const rows = await db.query<{ video_id: string; allowed_ips: string[] }>(
      `select v.video_id, ${BINDING_IPS} as allowed_ips
       from video v join organisation o on o.organisation_id = v.organisation_id where v.video_id = any($1::bigint[])`,
      [videoIds],
    )
    return new Map(rows.map((row) => [row.video_id, row.allowed_ips]))
  }
}
