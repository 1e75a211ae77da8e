import { escapeHtml } from './page.ts'

/** What other sites may show of a player page. */
export interface Shared {
  id: string
  title: string
  description: string
  /** Language code; empty if unknown. */
  language: string
  /** Empty where there is none that anybody may see. */
  image: string
  width: number
  height: number
  /** Social sites may play it in place. */
  playsInPlace: boolean
}

/** What a player page is told of what its address leads to: so it asks for nothing that is not there. */
export type PageFacts = { shows: 'video' | 'playlist'; shared: Shared } | { shows: 'none'; expired?: string }

/** Longer ones are cut by every site that shows them. */
const longestDescription = 300

/** Open Graph and Twitter card tags for the head of a player page. */
export function shareTags(shared: Shared, publicUrl: string): string {
  const page = `${publicUrl}/player/${shared.id}`
  const description = [...shared.description].slice(0, longestDescription).join('')
  const size = { width: String(shared.width), height: String(shared.height) }
  const common: [string, string][] = [
    ['og:type', 'video.other'],
    ['og:title', shared.title],
    ['og:url', page],
    ['og:description', description],
    ['og:image', shared.image],
    ['og:locale', shared.language.replaceAll('-', '_')],
    ['twitter:card', shared.playsInPlace ? 'player' : 'summary_large_image'],
    ['twitter:title', shared.title],
    ['twitter:description', description],
    ['twitter:image', shared.image],
  ]
  const player: [string, string][] = [
    ['og:video', page],
    ...(page.startsWith('https:') ? ([['og:video:secure_url', page]] satisfies [string, string][]) : []),
    ['og:video:type', 'text/html'],
    ['og:video:width', size.width],
    ['og:video:height', size.height],
    ['twitter:player', page],
    ['twitter:player:width', size.width],
    ['twitter:player:height', size.height],
  ]
  return [...common, ...(shared.playsInPlace ? player : [])]
    .filter(([, content]) => content !== '')
    .map(([name, content]) => `<meta ${name.startsWith('og:') ? 'property' : 'name'}="${name}" content="${escapeHtml(content)}" />`)
    .join('\n    ')
}

/** The page with what it is told, for itself and for other sites. */
export function withFacts(html: string, facts: PageFacts, publicUrl: string): string {
  const told = html.replace('</title>', () => `</title>\n    ${factTags(facts)}`)
  return facts.shows === 'none' ? told.replace(TITLE, '<title>Not available</title>') : withShareTags(told, facts.shared, publicUrl)
}

function factTags(facts: PageFacts): string {
  const expired = facts.shows === 'none' ? facts.expired : undefined
  return Object.entries({ shows: facts.shows, ...(expired !== undefined && { expired }) })
    .map(([name, content]) => `<meta name="vitascope:${name}" content="${escapeHtml(content)}" />`)
    .join('\n    ')
}

const TITLE = /<title>[^<]*<\/title>/

/** The page with the title and tags of what it shows. A function stands in for the text: `$&` in a title means nothing. */
export function withShareTags(html: string, shared: Shared, publicUrl: string): string {
  const title = `<title>${escapeHtml(shared.title || 'Video')}</title>`
  return html.replace(TITLE, () => `${title}\n    ${shareTags(shared, publicUrl)}`)
}
