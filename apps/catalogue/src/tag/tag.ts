import { DomainError, type FieldError, requireValid } from '@vitascope/errors'
import { checkTag, distinct } from '../video/video-checks.ts'

/** Maximum per video, and so per call. */
const MAX_TAGS = 100
/** Maximum number of tags in a search for videos. */
const MAX_REQUESTED_TAGS = 20

/** Returns the tags without duplicates, in the order of the call. Throws `invalid` with every problem. */
export function checkTags(tags: readonly string[]): string[] {
  return checked(tags, MAX_TAGS)
}

export function checkRequestedTags(tags: readonly string[]): string[] {
  return checked(tags, MAX_REQUESTED_TAGS)
}

/** Returns the new tags of a video, and which of the given ones were added. Throws TAGS_FULL. */
export function addTags(now: readonly string[], given: readonly string[]): { tags: string[]; changed: string[] } {
  const changed = given.filter((tag) => !now.includes(tag))
  if (now.length + changed.length > MAX_TAGS) {
    throw new DomainError('refused', 'TAGS_FULL', `a video has at most ${MAX_TAGS} tags`)
  }
  return { tags: [...now, ...changed], changed }
}

/** Returns the new tags of a video, and which of the given ones were removed. */
export function removeTags(now: readonly string[], given: readonly string[]): { tags: string[]; changed: string[] } {
  const removed = new Set(given)
  return { tags: now.filter((tag) => !removed.has(tag)), changed: given.filter((tag) => now.includes(tag)) }
}

function checked(tags: readonly string[], max: number): string[] {
  const isCountValid = tags.length >= 1 && tags.length <= max
  const problems: FieldError[] = isCountValid
    ? tags.flatMap((tag, index) => checkTag(tag, `tags[${index}]`))
    : [{ field: 'tags', message: `must have 1 to ${max} items` }]
  requireValid(problems)
  return distinct(tags)
}
