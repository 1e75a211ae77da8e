import type { RequestHandler } from 'express'
import { page } from '../../server/http/page.ts'
import { LOGO, readLanguage, sendPlainPage } from '../../server/http/plain-page.ts'
import { type Card, LANDING_TEXTS } from './landing-texts.ts'

/** Serves `/`: what the platform is, and links to its pages. */
export function landingPage(): RequestHandler {
  return page('/', (request, response) => {
    const language = readLanguage(request)
    const texts = LANDING_TEXTS[language]
    const cards = (list: readonly Card[], tag: 'h2' | 'h3') =>
      list
        .map(({ title, text, href }) => {
          const heading = href === undefined ? title : `<a href="${href}">${title}</a>`
          return `        <li><div class="card"><${tag}>${heading}</${tag}><p>${text}</p></div></li>\n`
        })
        .join('')
    response.setHeader('Cache-Control', 'no-cache')
    sendPlainPage(response, {
      language,
      title: 'Vitascope',
      frameAncestors: `'none'`,
      body: `    <header><a class="brand" href="/" aria-current="page">${LOGO}Vitascope</a><a href="/console">${texts.signIn}</a></header>
    <main>
      <div class="hero">
        <h1>${texts.title}</h1>
        <p class="lead">${texts.lead}</p>
        <p class="actions"><a class="button main" href="/console">${texts.console}</a><a class="button" href="/docs">${texts.documentation}</a></p>
      </div>
      <ul class="cards links">
${cards(texts.pages, 'h2')}      </ul>
      <h2 class="section">${texts.features}</h2>
      <ul class="cards">
${cards(texts.list, 'h3')}      </ul>
    </main>
    <footer><a href="/openapi.json">OpenAPI</a><a href="/llms.txt">llms.txt</a><a href="/docs/changelog">${texts.changes}</a></footer>`,
    })
  })
}
