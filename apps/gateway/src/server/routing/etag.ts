import { invalid } from '@vitascope/errors'

/** Returns the ETag of a response. That of a record that can be changed conditionally ends with the time of its last change. */
export function formatEtag(hash: string, updateTime: Date | undefined): string {
  return updateTime ? `"${hash}.${updateTime.getTime()}"` : `"${hash}"`
}

/**
 * Returns the times of the last change in the ETags of `If-Match`, one of which the record must have. Without the header,
 * or with `*`, the change is unconditional, and the result has no times.
 */
export function readIfMatch(header: string | undefined, isConditional: boolean): { expectedUpdateTimes?: readonly number[] } {
  if (header === undefined) return {}
  if (!isConditional) throw invalid([{ field: 'If-Match', message: 'is not supported by this operation' }])
  if (header.trim() === '*') return {}
  const times = header.split(',').map((tag) => /^\s*(?:W\/)?"[\w-]{27}\.(\d{1,15})"\s*$/.exec(tag)?.[1])
  if (times.some((time) => time === undefined))
    throw invalid([
      { field: 'If-Match', message: 'must be `*`, or an `ETag` that GET of the same path returned to a key of the organisation' },
    ])
  return { expectedUpdateTimes: times.map(Number) }
}
