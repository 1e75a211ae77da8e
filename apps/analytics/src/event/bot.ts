import { readFileSync } from 'node:fs'

/**
 * Parts of user agents that crawlers, previewers and monitors name themselves by, in lower case. Tools that anybody writes players and tests
 * with, such as curl or a browser without a window, are not among them: what they tell counts.
 */
const PARTS: readonly string[] = JSON.parse(readFileSync(new URL('./bots.json', import.meta.url), 'utf8'))

export function isBot(userAgent: string): boolean {
  const agent = userAgent.toLowerCase()
  return PARTS.some((part) => agent.includes(part))
}
