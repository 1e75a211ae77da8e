import { requireValid } from '@vitascope/errors'
import { checkMask } from '@vitascope/request'
import { distinct } from './video-checks.ts'
import { checkVideoFields, FIELD_ENTRIES, type VideoFieldName, type VideoFields } from './video-fields.ts'

type Merge = (now: VideoFields, given: VideoFields) => Partial<VideoFields>

/** All mask paths, with the field that each changes. */
const MASK_PATHS = new Map<string, { key: VideoFieldName; merge: Merge }>(
  FIELD_ENTRIES.flatMap(({ key, protoName, parts = {} }) => [
    [protoName, { key, merge: (_, given) => ({ [key]: given[key] }) }],
    ...Object.entries(parts).map(([part, set]): [string, { key: VideoFieldName; merge: Merge }] => [
      `${protoName}.${part}`,
      { key, merge: (now, given) => ({ [key]: set(now[key], given[key]) }) },
    ]),
  ]),
)

/** Returns the fields with the masked ones replaced by those of `given`. Throws `invalid` with every invalid field. */
export function mergeFields(now: VideoFields, given: VideoFields, mask: readonly string[]): VideoFields {
  const touched = new Set<VideoFieldName>()
  let merged = now
  for (const path of mask) {
    const masked = MASK_PATHS.get(path)
    if (masked) {
      merged = { ...merged, ...masked.merge(merged, given) }
      touched.add(masked.key)
    }
  }
  requireValid([...checkMask(mask, MASK_PATHS), ...checkVideoFields(merged, touched)])
  return { ...merged, tags: distinct(merged.tags), allowedIps: distinct(merged.allowedIps.map((rule) => rule.trim())) }
}
