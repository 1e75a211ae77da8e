/**
 * Returns the host of the page that contains the player or has the link to it. Returns an empty string
 * if the page is unknown or is one of the platform. The rest of the address is not sent.
 */
export function findReferrerHost(referrer: string, ownHost: string): string {
  if (!URL.canParse(referrer)) return ''
  const { host, hostname } = new URL(referrer)
  return host === ownHost ? '' : hostname
}

/**
 * Returns the URL of the page that led to the player page: the parameter `referrer` of its address, which embed codes
 * set by `data-referrer-url`, or else the referrer that the browser reports.
 */
export function readReferrer(search: string, reported: string): string {
  return new URLSearchParams(search).get('referrer') || reported
}
