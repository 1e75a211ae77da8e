import { z } from 'zod'
import { parseJsonText } from '../../server/payload/json-text.ts'
import { field, reject } from '../../server/schema/field.ts'
import { list, tag } from '../../server/schema/fields.ts'

/**
 * Tags in a path: a JSON array of texts, or one plain tag. Other JSON (an object, a quoted text) is
 * not a tag.
 */
export function tagsInPath(max: number) {
  const tags = list(
    tag(),
    { max },
    { type: 'string', description: 'A JSON array of tags, or one tag.', example: '["summer-2030","launch"]' },
  )
  return field((value) => (isOtherJson(value) ? reject('must be one tag, or a JSON array of tags') : value), tags)
}

/** Returns true for a text that starts like a JSON object or a quoted JSON text. */
function isOtherJson(value: unknown): boolean {
  return typeof value === 'string' && /^\s*["{]/.test(value)
}

/** Like `tagsInPath`, but `{"tags": ["a", "b"]}` is accepted too. */
export function requestedTags(max: number) {
  return field(
    (value) => (isOtherJson(value) ? unwrapped(String(value)) : value),
    list(
      tag(),
      { max },
      {
        type: 'string',
        description: `One tag, \`{"tags": ["a", "b"]}\`, or a JSON array. At most ${max} tags.`,
        example: 'summer-2030',
      },
    ),
  )
}

const wrapped = z.strictObject({ tags: z.array(z.unknown()) })

function unwrapped(text: string): unknown {
  const parsed = wrapped.safeParse(tryParseJson(text))
  return parsed.success ? parsed.data.tags : reject('must be one tag, or a JSON object with an array `tags`')
}

/** Returns the parsed JSON, or undefined if the text is invalid, so that it has no tags. */
function tryParseJson(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch {
    return undefined
  }
}
