import { requireValid } from '@vitascope/errors'
import { checkMask } from '@vitascope/request'
import { removeDuplicates } from './video-checks.ts'
import { checkVideoFields, FIELD_ENTRIES, type VideoFieldName, type VideoFields } from './video-fields.ts'

type Merge = (current: VideoFields, input: VideoFields) => Partial<VideoFields>

/** All mask paths with the field that they change. */
const MASK_PATHS = new Map<string, { key: VideoFieldName; merge: Merge }>(
  FIELD_ENTRIES.flatMap(({ key, protoName, parts = {} }) => [
    [protoName, { key, merge: (_, input) => ({ [key]: input[key] }) }],
    ...Object.entries(parts).map(([part, set]): [string, { key: VideoFieldName; merge: Merge }] => [
      `${protoName}.${part}`,
      { key, merge: (current, input) => ({ [key]: set(current[key], input[key]) }) },
    ]),
  ]),
)

/** Returns the fields `current` with the masked fields of `input`. Throws `invalid` with every invalid field. */
export function mergeFields(current: VideoFields, input: VideoFields, mask: readonly string[]): VideoFields {
  const changedFields = new Set<VideoFieldName>()
  let merged = current
  for (const path of mask) {
    const target = MASK_PATHS.get(path)
    if (target) {
      merged = { ...merged, ...target.merge(merged, input) }
      changedFields.add(target.key)
    }
  }
  requireValid([...checkMask(mask, MASK_PATHS), ...checkVideoFields(merged, changedFields)])
  return { ...merged, tags: removeDuplicates(merged.tags), allowedIps: removeDuplicates(merged.allowedIps.map((rule) => rule.trim())) }
}
