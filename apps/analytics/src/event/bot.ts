import { createIsbotFromList, list } from 'isbot'

/**
 * User agents of development and test tools. Their events count as views. Patterns of `isbot` that
 * match one of them are therefore not used.
 */
const TOOL_USER_AGENTS = ['curl/8.5.0', 'node', 'HeadlessChrome/140.0.0.0', 'python-requests/2.32.3', 'okhttp/5.1.0']

/**
 * Returns whether the user agent is a crawler, a link preview or a monitor. An empty user agent
 * is not a bot.
 */
export const isBot: (userAgent: string) => boolean = createIsbotFromList(
  list.filter((pattern) => !TOOL_USER_AGENTS.some((agent) => new RegExp(pattern, 'i').test(agent))),
)
