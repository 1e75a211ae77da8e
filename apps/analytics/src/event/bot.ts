import { readFileSync } from 'node:fs'

/**
 * Lower-case parts of user agents that identify crawlers, link previews and monitors. Tools that
 * are used to write players and tests, such as curl and headless browsers, are not included: their
 * events count.
 */
const PARTS: readonly string[] = JSON.parse(readFileSync(new URL('./bots.json', import.meta.url), 'utf8'))

export function isBot(userAgent: string): boolean {
  const agent = userAgent.toLowerCase()
  return PARTS.some((part) => agent.includes(part))
}
