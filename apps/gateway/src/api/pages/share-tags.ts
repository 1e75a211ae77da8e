import { escapeHtml } from '../../server/http/page.ts'
import { oembedUrl } from './oembed-request.ts'
import type { PageFacts, ShareData } from './share-data.ts'
import { videoObject } from './video-object.ts'

/** Every site cuts longer descriptions. */
const MAX_DESCRIPTION_LENGTH = 300

/** Returns the Open Graph and Twitter card tags of a player page. */
export function shareTags(shared: ShareData, publicUrl: string): string {
  const page = `${publicUrl}/player/${shared.id}`
  const description = [...shared.description].slice(0, MAX_DESCRIPTION_LENGTH).join('')
  const size = { width: String(shared.width), height: String(shared.height) }
  const image = shared.images[0]?.url ?? ''
  const common: [string, string][] = [
    ['og:type', 'video.other'],
    ['og:title', shared.title],
    ['og:url', page],
    ['og:description', description],
    ['og:image', image],
    ['og:locale', shared.language.replaceAll('-', '_')],
    ['twitter:card', shared.canPlayInline ? 'player' : 'summary_large_image'],
    ['twitter:title', shared.title],
    ['twitter:description', description],
    ['twitter:image', image],
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
  const robots: [string, string][] = shared.isUnlisted ? [['robots', 'noindex']] : []
  return [...robots, ...common, ...(shared.canPlayInline ? player : [])]
    .filter(([, content]) => content !== '')
    .map(([name, content]) => `<meta ${name.startsWith('og:') ? 'property' : 'name'}="${name}" content="${escapeHtml(content)}" />`)
    .join('\n    ')
}

/** Returns the links with which other sites find the oEmbed document, or none if it would be rejected. */
function discoveryLinks({ id, title, requiresCredential }: ShareData, publicUrl: string): string[] {
  if (requiresCredential) return []
  return [['json', 'application/json+oembed'] as const, ['xml', 'text/xml+oembed'] as const].map(([format, type]) => {
    const href = oembedUrl(id, format, publicUrl)
    return `<link rel="alternate" type="${type}" href="${escapeHtml(href)}" title="${escapeHtml(title || 'Video')}" />`
  })
}

/** Returns the page with its facts and share tags. */
export function withFacts(html: string, facts: PageFacts, publicUrl: string): string {
  const described = html.replace('</title>', () => `</title>\n    ${factTags(facts)}`)
  return facts.shows === 'none'
    ? described.replace(TITLE, '<title>Not available</title>')
    : withShareTags(described, facts.shared, publicUrl)
}

function factTags(facts: PageFacts): string {
  const { expired, denied } = facts.shows === 'none' ? facts : {}
  return Object.entries({ shows: facts.shows, ...(expired !== undefined && { expired }), ...(denied !== undefined && { denied }) })
    .map(([name, content]) => `<meta name="vitascope:${name}" content="${escapeHtml(content)}" />`)
    .join('\n    ')
}

const TITLE = /<title>[^<]*<\/title>/

/**
 * Returns the page with the title and tags of its content. The replacement is a function, so that
 * `$&` in a title has no effect.
 */
export function withShareTags(html: string, shared: ShareData, publicUrl: string): string {
  const title = `<title>${escapeHtml(shared.title || 'Video')}</title>`
  const tags = [title, shareTags(shared, publicUrl), ...discoveryLinks(shared, publicUrl), ...videoObject(shared, publicUrl)]
  return html.replace(TITLE, () => tags.join('\n    '))
}
