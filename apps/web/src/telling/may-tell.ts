/**
 * Whether what is watched may be told. Who asks not to be tracked (Do Not Track, Global Privacy Control) is not, unless whoever runs the
 * platform has decided otherwise: `<meta name="vitascope:events" content="all" />`.
 */
export function mayTell(page: ParentNode, browser: { doNotTrack?: string | null; globalPrivacyControl?: unknown }): boolean {
  const decided = page.querySelector('meta[name="vitascope:events"]')?.getAttribute('content')
  return decided === 'all' || (browser.doNotTrack !== '1' && browser.globalPrivacyControl !== true)
}
