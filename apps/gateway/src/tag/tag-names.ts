import { z } from 'zod'
import { field, refuse } from '../field.ts'
import { list, tag } from '../fields.ts'
import { parseJsonText } from '../payload/json-text.ts'

/** Tags in a path: a JSON array, or one tag as it is. */
export function tagsInPath(max: number) {
  return list(tag(), { max }, { type: 'string', description: 'A JSON array of tags, or one tag.', example: '["summer-2030","launch"]' })
}

/** The same, or as `{"tags": ["a", "b"]}`. */
export function wantedTags(max: number) {
  return field(
    (value) => (typeof value === 'string' && value.trimStart().startsWith('{') ? unwrapped(value) : value),
    list(
      tag(),
      { max },
      {
        type: 'string',
        description: `One tag; or \`{"tags": ["a", "b"]}\` or a JSON array with at most ${max} tags.`,
        example: 'summer-2030',
      },
    ),
  )
}

const wrapped = z.strictObject({ tags: z.array(z.unknown()) })

function unwrapped(text: string): unknown {
  const found = wrapped.safeParse(jsonOf(text))
  return found.success ? found.data.tags : refuse('must be one tag, or a JSON object with an array tags')
}

/** Undefined for what is no JSON: whatever is wrong with it, it holds no tags. */
function jsonOf(text: string): unknown {
  try {
    return parseJsonText(text)
  } catch {
    return undefined
  }
}
