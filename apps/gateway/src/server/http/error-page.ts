import type { IncomingMessage, ServerResponse } from 'node:http'
import { escapeHtml } from './page.ts'
import { LOGO, type PageLanguage, readLanguage, sendPlainPage } from './plain-page.ts'
import type { Problem } from './problem.ts'
import { vary } from './response.ts'

/** Paths whose errors are problem documents for every client. */
const API_PATHS = /^\/(v\d+|delivery|oembed|healthz|readyz|openapi\.json|llms\.txt)(?=[/?]|$)/

/**
 * Returns whether a browser opens an address outside of the API as a page. An error of such a request is sent as a page,
 * and all other errors as problem documents.
 */
export function opensPage(request: IncomingMessage): boolean {
  const { method, headers } = request
  if (method !== 'GET' && method !== 'HEAD') return false
  const mode = headers['sec-fetch-mode']
  // Old browsers do not send the header.
  const isNavigation = mode === undefined || mode === 'navigate'
  return isNavigation && !API_PATHS.test(readUrl(request)) && /\btext\/html\b/.test(headers.accept ?? '')
}

/** Sends a problem as a page, in the language of the request. The caller sets the status of the response. */
export function sendErrorPage(
  response: ServerResponse,
  { status, code, request_id: requestId }: Pick<Problem, 'status' | 'code' | 'request_id'>,
  headers: Readonly<Record<string, string>>,
): void {
  const request: IncomingMessage = response.req
  const language = readLanguage(request)
  const texts = TEXTS[language]
  const { title, text } = texts[status === 404 || status === 429 || status === 503 ? status : status < 500 ? 'rejected' : 'failed']
  const isPlayer = readUrl(request).startsWith('/player/')
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  vary(response, 'Accept')
  sendPlainPage(response, {
    language,
    title: `${title} · Vitascope`,
    // Players are shown in frames of other pages.
    frameAncestors: isPlayer ? '*' : `'none'`,
    body: `    <header><a class="brand" href="/">${LOGO}Vitascope</a></header>
    <main>
      <div class="hero">
        <p class="status">${texts.status} ${status}</p>
        <h1>${title}</h1>
        <p class="lead">${text}</p>
${isPlayer ? '' : formatLinks(texts)}        <p class="reference">${texts.reference}: <code>${escapeHtml(code)}</code> · <code>${escapeHtml(requestId)}</code></p>
      </div>
    </main>`,
  })
}

function formatLinks({ home, documentation }: Texts): string {
  return `        <p class="actions"><a class="button main" href="/">${home}</a><a class="button" href="/docs">${documentation}</a></p>\n`
}

/** Returns the address of the request. Routers change `url` while they handle it. */
function readUrl(request: IncomingMessage & { originalUrl?: string }): string {
  return request.originalUrl ?? request.url ?? ''
}

interface Message {
  title: string
  text: string
}

interface Texts {
  status: string
  home: string
  documentation: string
  reference: string
  404: Message
  429: Message
  503: Message
  /** Any other 4xx. */
  rejected: Message
  /** Any other 5xx. */
  failed: Message
}

const TEXTS: Readonly<Record<PageLanguage, Texts>> = {
  en: {
    status: 'Error',
    home: 'To the start page',
    documentation: 'Documentation',
    reference: 'For support',
    404: { title: 'There is no such page', text: 'The address may be mistyped, or its content was deleted.' },
    429: { title: 'Too many requests', text: 'Wait a moment, then load the page again.' },
    503: { title: 'Temporarily unavailable', text: 'This part of the platform does not respond now. Load the page again in a moment.' },
    rejected: { title: 'This page cannot be shown', text: 'The platform rejected the request for this address.' },
    failed: { title: 'Something failed', text: 'The platform could not create this page. Load it again in a moment.' },
  },
  de: {
    status: 'Fehler',
    home: 'Zur Startseite',
    documentation: 'Dokumentation',
    reference: 'Für den Support',
    404: { title: 'Diese Seite gibt es nicht', text: 'Die Adresse ist vielleicht falsch geschrieben, oder ihr Inhalt wurde gelöscht.' },
    429: { title: 'Zu viele Anfragen', text: 'Warten Sie einen Moment, und laden Sie die Seite dann neu.' },
    503: {
      title: 'Vorübergehend nicht verfügbar',
      text: 'Dieser Teil der Plattform antwortet gerade nicht. Laden Sie die Seite gleich neu.',
    },
    rejected: { title: 'Diese Seite kann nicht gezeigt werden', text: 'Die Plattform hat die Anfrage für diese Adresse abgelehnt.' },
    failed: { title: 'Etwas ist fehlgeschlagen', text: 'Die Plattform konnte diese Seite nicht erstellen. Laden Sie sie gleich neu.' },
  },
}
