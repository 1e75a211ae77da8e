/** Longest part of a `User-Agent` that is read. */
const MAX_LENGTH = 500
/**
 * Words by which crawlers, previews of links and collectors of texts name themselves. The list of `isbot` also contains
 * media players and HTTP libraries, which may load files. CUBOT is a brand of phones.
 */
const CRAWLER =
  /(?<!\bcu)bot\b|bot[/_-]|crawl|spider|slurp|scrape|archiver|mediapartners|facebookexternalhit|meta-external|google-(extended|inspectiontool|read-aloud)|embedly|feedfetcher/i

/** Returns a function that recognises crawlers by their `User-Agent`. One that contains an allowed text is not a crawler; `*` allows all. */
export function createCrawlerCheck(allowed: readonly string[]): (userAgent: string | undefined) => boolean {
  const texts = allowed.map((text) => text.toLowerCase())
  if (texts.includes('*')) return () => false
  return (userAgent) => {
    const agent = userAgent?.slice(0, MAX_LENGTH)
    if (agent === undefined || !CRAWLER.test(agent)) return false
    const lower = agent.toLowerCase()
    return !texts.some((text) => lower.includes(text))
  }
}
