import { createIsbotFromList, list } from 'isbot'

/**
 * User agents of tools for writing players and tests. Their events count, so patterns of `isbot`
 * that match one of them are left out.
 */
const TOOLS = ['curl/8.5.0', 'node', 'HeadlessChrome/140.0.0.0', 'python-requests/2.32.3', 'okhttp/5.1.0']

/**
 * Returns whether a user agent is that of a crawler, a link preview or a monitor. An empty one
 * is not.
 */
export const isBot: (userAgent: string) => boolean = createIsbotFromList(
  list.filter((pattern) => !TOOLS.some((agent) => new RegExp(pattern, 'i').test(agent))),
)
