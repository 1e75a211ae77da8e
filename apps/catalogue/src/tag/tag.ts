import { DomainError, type FieldError, invalid } from '@vitascope/errors'
import { checkTag, distinct } from '../video/video-checks.ts'

/** Of a video, and so of a call. */
const MOST_TAGS = 100
/** By which videos are looked for. */
const MOST_WANTED = 20

/** Each tag once, in the order of the call; refuses with everything that is wrong. */
export function checkTags(tags: readonly string[]): string[] {
  return checked(tags, MOST_TAGS)
}

export function checkWantedTags(tags: readonly string[]): string[] {
  return checked(tags, MOST_WANTED)
}

/** What a video's tags become, and which of the given ones it did not have. */
export function addTags(now: readonly string[], given: readonly string[]): { tags: string[]; touched: string[] } {
  const touched = given.filter((tag) => !now.includes(tag))
  if (now.length + touched.length > MOST_TAGS) {
    throw new DomainError('refused', 'TAGS_FULL', `a video has at most ${MOST_TAGS} tags`)
  }
  return { tags: [...now, ...touched], touched }
}

/** What a video's tags become, and which of the given ones it had. */
export function removeTags(now: readonly string[], given: readonly string[]): { tags: string[]; touched: string[] } {
  const gone = new Set(given)
  return { tags: now.filter((tag) => !gone.has(tag)), touched: given.filter((tag) => now.includes(tag)) }
}

function checked(tags: readonly string[], most: number): string[] {
  const counted = tags.length >= 1 && tags.length <= most
  const problems: FieldError[] = counted
    ? tags.flatMap((tag, index) => checkTag(tag, `tags[${index}]`))
    : [{ field: 'tags', message: `must have 1 to ${most} items` }]
  if (problems.length > 0) throw invalid(problems)
  return distinct(tags)
}
