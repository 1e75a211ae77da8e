import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { escapeHtml, setPageHeaders } from './page.ts'
import { vary } from './response.ts'

/** Languages of pages that the gateway writes itself. */
export type PageLanguage = 'en' | 'de'

export interface PlainPage {
  language: PageLanguage
  title: string
  /** Markup of the body. */
  body: string
  /** Which pages may show the page in a frame. */
  frameAncestors: string
  /** What only this page has. */
  more?: {
    /** Its own style sheet, in addition to that of all pages. */
    style: string
    /** Sources of its pictures for the Content Security Policy. */
    imageSources: string
  }
}

/** Sends a page without scripts. Its style sheets are part of it, and its forms return to this site. The caller sets the status. */
export function sendPlainPage(response: ServerResponse, { language, title, body, frameAncestors, more }: PlainPage): void {
  const bytes = Buffer.from(`<!doctype html>
<html lang="${language}">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>${escapeHtml(title)}</title>
    <link rel="icon" href="${ICON}" />
    <style>${STYLE}</style>${more ? `\n    <style>${more.style}</style>` : ''}
  </head>
  <body>
${body}
  </body>
</html>
`)
  setPageHeaders(response, `${policy(more)}; frame-ancestors ${frameAncestors}`)
  vary(response, 'Accept-Language')
  response.setHeader('Content-Length', bytes.length)
  response.end(response.req.method === 'HEAD' ? undefined : bytes)
}

/** Returns the first language of `Accept-Language` in which there is a page. Browsers send them by preference. */
export function readLanguage({ headers }: IncomingMessage): PageLanguage {
  const tags = (headers['accept-language'] ?? '').split(',').map((part) => part.trim().slice(0, 2).toLowerCase())
  return tags.find((tag) => tag === 'de' || tag === 'en') === 'de' ? 'de' : 'en'
}

const MARK = '<rect width="32" height="32" rx="8" fill="#12161f"/><path d="M12 9.5v13l11-6.5z" fill="#7cc4ff"/>'
export const LOGO = `<svg class="logo" viewBox="0 0 32 32" aria-hidden="true">${MARK}</svg>`
const ICON = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${MARK}</svg>`)}`

/** The colours are those of the upload page and the player page (apps/web/src/dom/tokens.css). */
const STYLE = `
:root{color-scheme:light dark;--page:#f4f6fa;--surface:#fff;--text:#131a26;--soft:#566074;--line:#dde3ec;--accent:#1d5fd6;--accent-hover:#164cae;--on-accent:#fff;--glow:#dce9ff}
@media (prefers-color-scheme:dark){:root{--page:#0c1017;--surface:#151b25;--text:#e9edf4;--soft:#a3aec0;--line:#2a3444;--accent:#82b6ff;--accent-hover:#a8ccff;--on-accent:#071426;--glow:#16263f}}
*{box-sizing:border-box}
body{min-height:100vh;margin:0;background:radial-gradient(60rem 28rem at 50% -8rem,var(--glow),transparent) no-repeat var(--page);color:var(--text);font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
main,header,footer{width:100%;max-width:66rem;margin:0 auto;padding:0 1.25rem}
header{display:flex;align-items:center;justify-content:space-between;gap:1rem;padding-top:1.25rem;padding-bottom:1.25rem}
.brand{display:inline-flex;align-items:center;gap:.6rem;color:inherit;font-size:1.125rem;font-weight:680;letter-spacing:-.01em;text-decoration:none}
.logo{width:1.75rem;height:1.75rem}
h1{max-width:20ch;margin:0;font-size:clamp(2rem,6vw,3.5rem);font-weight:720;line-height:1.1;letter-spacing:-.025em;overflow-wrap:break-word;text-wrap:balance}
.card h2,.card h3{margin:0 0 .35rem;font-size:1.0625rem;line-height:1.35}
p{margin:0}
a{color:var(--accent)}
a:hover{color:var(--accent-hover)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:.5rem}
.hero{padding:clamp(2.5rem,8vw,6rem) 0 clamp(2rem,6vw,4rem)}
.lead{max-width:58ch;margin-top:1.25rem;color:var(--soft);font-size:clamp(1.0625rem,2vw,1.25rem)}
.actions{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:2rem}
.button{display:inline-block;padding:.7rem 1.25rem;border:1px solid var(--line);border-radius:.75rem;background:var(--surface);color:var(--text);font-weight:620;text-decoration:none}
.button:hover{border-color:var(--accent);color:var(--text)}
.button.main{border-color:var(--accent);background:var(--accent);color:var(--on-accent)}
.button.main:hover{border-color:var(--accent-hover);background:var(--accent-hover);color:var(--on-accent)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,17rem),1fr));gap:1rem;margin:0;padding:0;list-style:none}
.cards.links{grid-template-columns:1fr}
@media (min-width:36rem){.cards.links{grid-template-columns:1fr 1fr}}
@media (min-width:64rem){.cards.links{grid-template-columns:repeat(4,1fr)}}
.card{height:100%;padding:1.25rem;border:1px solid var(--line);border-radius:1rem;background:var(--surface)}
.card p{color:var(--soft)}
.section{margin:3.5rem 0 1rem;font-size:1.5rem;letter-spacing:-.015em}
footer{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;margin-top:4rem;padding-top:1.5rem;padding-bottom:2rem;border-top:1px solid var(--line);color:var(--soft);font-size:.9375rem}
.status{margin-bottom:.75rem;color:var(--soft);font-weight:620}
.reference{margin-top:2.5rem;color:var(--soft);font-size:.875rem;overflow-wrap:anywhere}
code{font-family:ui-monospace,"SF Mono","Cascadia Code",Menlo,Consolas,monospace}
`

function policy(more: PlainPage['more']): string {
  return [
    `default-src 'none'`,
    `style-src ${[STYLE, ...(more ? [more.style] : [])].map(styleSource).join(' ')}`,
    `img-src data:${more ? ` ${more.imageSources}` : ''}`,
    `base-uri 'none'`,
    `form-action ${more ? `'self'` : `'none'`}`,
  ].join('; ')
}

const styleSources = new Map<string, string>()

/** Returns the source of a style sheet, which is a constant of a page. */
function styleSource(style: string): string {
  const known = styleSources.get(style)
  if (known !== undefined) return known
  const source = `'sha256-${createHash('sha256').update(style).digest('base64')}'`
  styleSources.set(style, source)
  return source
}
