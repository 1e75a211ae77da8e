import { Reply } from '../../server/route/route.ts'
import { text } from '../../server/schema/fields.ts'

const identifier = '[A-Za-z_$][A-Za-z0-9_$]*'

/** One to four JavaScript identifiers joined by dots, at most 64 characters. */
export const callbackName = text(
  64,
  { min: 1, pattern: new RegExp(`^${identifier}(?:\\.${identifier}){0,3}$`), message: 'must be one to four identifiers joined by dots' },
  { description: 'Name of the function that the response calls. Without it the response is JSON.', example: 'uploads.accepted' },
)

/**
 * Returns the response as a function call. The leading comment keeps the callback name from being
 * the first bytes of the file.
 */
export function jsonpReply(callback: string | undefined, body: object): Reply {
  const headers = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }
  if (callback === undefined) return new Reply(body, { headers })
  const script = `/**/${callback}(${scriptJson(body)});`
  return new Reply(script, { headers: { ...headers, 'Content-Type': 'text/javascript; charset=utf-8' } })
}

/** Returns JSON that neither closes a script element nor breaks a line in older JavaScript. */
function scriptJson(value: object): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
