/** Settings of the profile about pages that control the player. */
export interface EmbedApiSettings {
  isEnabled: boolean
  /**
   * Domains, of which `*.example.org` includes all subdomains. If it is empty, every page that
   * embeds the player may control it.
   */
  domains: readonly string[]
}

/**
 * Returns whether a page with this origin may control the player. Pages of the platform
 * (`ownOrigin`) always may.
 */
export function isAllowedOrigin(origin: string, ownOrigin: string, { isEnabled, domains }: EmbedApiSettings): boolean {
  if (origin === ownOrigin) return true
  if (!isEnabled || !URL.canParse(origin)) return false
  if (domains.length === 0) return true
  const { hostname } = new URL(origin)
  return domains.some((domain) => (domain.startsWith('*.') ? hostname.endsWith(domain.slice(1)) : hostname === domain))
}

/** Reads a list that is separated by commas, spaces or lines. */
export function readDomains(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[\s,;]+/)
    .map((domain) => domain.replace(/^https?:\/\//, '').replace(/[/:].*$/, ''))
    .filter((domain) => domain !== '')
}
