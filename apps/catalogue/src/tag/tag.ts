import { DomainError, type FieldError, requireValid } from '@vitascope/errors'
import { checkTag, removeDuplicates } from '../video/video-checks.ts'

/** Maximum number of tags of a video, and of tags in a call. */
const MAX_TAGS = 100
/** Maximum number of tags in a search for videos. */
const MAX_SEARCH_TAGS = 20

/** Returns the tags without duplicates, in the order of the request. Throws `invalid` with every problem. */
export function checkTags(tags: readonly string[]): string[] {
  return requireTags(tags, MAX_TAGS)
}

export function checkSearchTags(tags: readonly string[]): string[] {
  return requireTags(tags, MAX_SEARCH_TAGS)
}

/** Returns the new tags of a video, and the tags that were added. Throws TAGS_FULL. */
export function addTags(current: readonly string[], requested: readonly string[]): { tags: string[]; changed: string[] } {
  const changed = requested.filter((tag) => !current.includes(tag))
  if (current.length + changed.length > MAX_TAGS) {
    throw new DomainError('failed_precondition', 'TAGS_FULL', `a video has at most ${MAX_TAGS} tags`)
  }
  return { tags: [...current, ...changed], changed }
}

/** Returns the new tags of a video, and the tags that were removed. */
export function removeTags(current: readonly string[], requested: readonly string[]): { tags: string[]; changed: string[] } {
  const removed = new Set(requested)
  return { tags: current.filter((tag) => !removed.has(tag)), changed: requested.filter((tag) => current.includes(tag)) }
}

/** Returns distinct tags. Throws `invalid`. */
function requireTags(tags: readonly string[], max: number): string[] {
  const isCountValid = tags.length >= 1 && tags.length <= max
  const problems: FieldError[] = isCountValid
    ? tags.flatMap((tag, index) => checkTag(tag, `tags[${index}]`))
    : [{ field: 'tags', message: `must have 1 to ${max} items` }]
  requireValid(problems)
  return removeDuplicates(tags)
}
