import type { Schemas } from '@vitascope/sdk'

type Quota = Pick<Schemas['OrganisationUsage'], 'quota' | 'usage'>

/** Returns the bytes that uploads may still reserve, or undefined without a limit. */
export function remainingBytes({ quota, usage }: Quota): number | undefined {
  return quota.bytes === null ? undefined : Math.max(0, Number(quota.bytes) - Number(usage.bytes) - Number(usage.bytes_reserved))
}

/** Returns whether the platform accepts another video in this month. */
export function hasMinutesLeft({ quota, usage }: Quota): boolean {
  return (
    quota.minutes_per_month === null || Number(usage.minutes_this_month) + Number(usage.minutes_reserved) < Number(quota.minutes_per_month)
  )
}

/** Returns the files that do not fit into the bytes that are left, if the files are sent in their order. */
export function findTooLarge<T extends { size: number }>(files: readonly T[], freeBytes: number): T[] {
  let left = freeBytes
  return files.filter(({ size }) => {
    if (size > left) return true
    left -= size
    return false
  })
}
