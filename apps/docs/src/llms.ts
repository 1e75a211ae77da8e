import { markdownPath, type Section } from './pages.ts'

/**
 * Returns the text of llms.txt (llmstxt.org): all pages as Markdown, with their first sentences. The
 * addresses are paths of the platform, which the gateway completes.
 */
export function llmsText(sections: readonly Section[]): string {
  const lists = sections.map(
    ({ title, pages }) =>
      `## ${title}\n\n${pages.map((page) => `- [${page.title}](/docs/${markdownPath(page)})${page.summary === '' ? '' : `: ${page.summary}`}\n`).join('')}`,
  )
  return `# Vitascope

> Vitascope is an open, self-hosted video hosting platform: upload, encode, deliver, protect and
> measure videos by a REST API.

The API is described by an [OpenAPI document](/openapi.json). Its addresses start with /v2.

${lists.join('\n')}`
}
