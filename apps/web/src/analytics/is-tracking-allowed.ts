/**
 * Returns whether events of a view may be sent. A browser that sends Do Not Track or Global Privacy
 * Control opts out, unless the operator of the platform overrides it with `<meta
 * name="vitascope:events" content="all" />`. A page whose address has `events=0` never sends any.
 */
export function isTrackingAllowed(
  page: ParentNode,
  browser: { doNotTrack?: string | null; globalPrivacyControl?: unknown },
  query: string,
): boolean {
  if (new URLSearchParams(query).get('events') === '0') return false
  const override = page.querySelector('meta[name="vitascope:events"]')?.getAttribute('content')
  return override === 'all' || (browser.doNotTrack !== '1' && browser.globalPrivacyControl !== true)
}
