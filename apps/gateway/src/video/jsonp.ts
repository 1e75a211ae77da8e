import { text } from '../fields.ts'
import { Reply } from '../route.ts'

const identifier = '[A-Za-z_$][A-Za-z0-9_$]*'

/** One to four JavaScript identifiers joined by dots, at most 64 characters. */
export const callbackName = text(
  64,
  { min: 1, pattern: new RegExp(`^${identifier}(?:\\.${identifier}){0,3}$`), message: 'must be one to four identifiers joined by dots' },
  { description: 'The function that is called with the answer; without it the answer is plain JSON.', example: 'uploads.accepted' },
)

/** The answer as a call of a function. The comment before it keeps the name from being the file's first bytes. */
export function jsonpReply(callback: string | undefined, answer: object): Reply {
  const headers = { 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' }
  if (callback === undefined) return new Reply(answer, { headers })
  const body = `/**/${callback}(${scriptJson(answer)});`
  return new Reply(body, { headers: { ...headers, 'Content-Type': 'text/javascript; charset=utf-8' } })
}

/** JSON that neither ends a script element nor breaks a line of older JavaScript. */
function scriptJson(value: object): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
