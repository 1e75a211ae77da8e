import type { IncomingMessage } from 'node:http'

/**
 * Returns what kind of page sent a request: one of the platform, one of another site, or none, such as a program or the
 * address bar. Browsers set these headers, and pages cannot change them.
 */
export function findRequestingPage({ headers }: Pick<IncomingMessage, 'headers'>, publicUrl: string): 'own' | 'foreign' | 'none' {
  const site = headers['sec-fetch-site']
  if (site === 'same-origin') return 'own'
  if (site === 'cross-site' || site === 'same-site') return 'foreign'
  // Older browsers send the origin of a page with every write.
  const { origin } = headers
  if (origin === undefined) return 'none'
  if (!URL.canParse(origin)) return 'foreign'
  return origin === new URL(publicUrl).origin || new URL(origin).host === headers.host ? 'own' : 'foreign'
}
