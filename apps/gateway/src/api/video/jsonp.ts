import { Reply } from '../../server/route/reply.ts'
import { text } from '../../server/schema/fields.ts'

const identifier = '[A-Za-z_$][A-Za-z0-9_$]*'

/** One to four JavaScript identifiers joined by dots, at most 64 characters. */
export const callbackName = text(
  64,
  { min: 1, pattern: new RegExp(`^${identifier}(?:\\.${identifier}){0,3}$`), message: 'must be one to four identifiers joined by dots' },
  { description: 'Name of the function that the response calls. Without it the response is JSON.', example: 'uploads.accepted' },
)

/**
 * Returns the response as a call of the function `callback`, or as JSON without one. The response
 * starts with a comment, so that a callback name cannot be read as the header of another file type.
 */
export function jsonpReply(callback: string | undefined, body: object): Reply {
  const headers = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }
  if (callback === undefined) return new Reply(body, { headers })
  const script = `/**/${callback}(${scriptJson(body)});`
  return new Reply(script, { headers: { ...headers, 'Content-Type': 'text/javascript; charset=utf-8' } })
}

/** Returns JSON without characters that end a script element or a line of JavaScript before ES2019. */
function scriptJson(value: object): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
