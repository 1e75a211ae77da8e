import type { ListPublicVideosResponse, PublicVideo } from '@vitascope/proto/catalogue/v1/public_video'
import { escapeHtml } from '../../server/http/page.ts'
import { LOGO, type PageLanguage } from '../../server/http/plain-page.ts'
import { formatFileUrl } from '../video/video-uri-response.ts'

interface OrganisationView extends ListPublicVideosResponse {
  id: string
  name: string
  /** Search words, or an empty text. */
  query: string
  /** True for the first page of the list. */
  isFirst: boolean
  language: PageLanguage
  /** URL prefix of media files. */
  mediaUrl: string
}

/** Returns the body of the page of an organisation. */
export function organisationMarkup(view: OrganisationView): string {
  const { id, name, query, language, videos, mediaUrl } = view
  const texts = TEXTS[language]
  const list = videos.map((video) => videoMarkup(video, mediaUrl, texts)).join('')
  return `    <header><a class="brand" href="/">${LOGO}Vitascope</a></header>
    <main class="organisation">
      <h1><a href="/o/${id}">${escapeHtml(name)}</a></h1>
      <form role="search" action="/o/${id}">
        <label for="q">${texts.search}</label>
        <input type="search" id="q" name="q" maxlength="200" value="${escapeHtml(query)}" />
        <button class="button main">${texts.submit}</button>
      </form>
      <h2 class="section">${query === '' ? texts.videos : texts.results(escapeHtml(query))}</h2>
      ${list === '' ? `<p class="none">${emptyText(view, texts)}</p>` : `<ul class="videos">\n${list}      </ul>`}
${pageLinks(view, texts)}    </main>
    <footer><a href="/">${texts.home}</a></footer>`
}

function videoMarkup(video: PublicVideo, mediaUrl: string, texts: Texts): string {
  const { videoId, title, thumbnailPath, durationSeconds = 0 } = video
  const url = formatFileUrl(video, thumbnailPath, mediaUrl)
  const still = url === '' ? '' : `<img src="${escapeHtml(url)}" alt="" width="426" height="240" loading="lazy" />`
  const time =
    durationSeconds > 0 ? `<span class="time"><span class="hidden">${texts.duration} </span>${clockText(durationSeconds)}</span>` : ''
  return `        <li><a href="/player/${videoId}"><span class="name">${escapeHtml(title) || texts.untitled}</span><span class="still">${still}${time}</span></a></li>\n`
}

function emptyText({ query, isFirst, nextPageToken }: OrganisationView, texts: Texts): string {
  if (!isFirst || nextPageToken !== '') return texts.noneHere
  return query === '' ? texts.none : texts.noMatch
}

function pageLinks({ id, query, isFirst, nextPageToken }: OrganisationView, texts: Texts): string {
  const link = (text: string, fields: Record<string, string>) => {
    const search = new URLSearchParams({ ...(query !== '' && { q: query }), ...fields }).toString()
    return `<a class="button" href="/o/${id}${search === '' ? '' : `?${escapeHtml(search)}`}">${text}</a>`
  }
  const links = [
    ...(isFirst ? [] : [link(texts.first, {})]),
    ...(nextPageToken === '' ? [] : [link(texts.next, { cursor: nextPageToken })]),
  ]
  return links.length === 0 ? '' : `      <nav class="actions" aria-label="${texts.pages}">${links.join('')}</nav>\n`
}

/** Formats seconds as `3:05` or `1:03:05`. */
function clockText(seconds: number): string {
  const whole = Math.round(seconds)
  const [hours, minutes, rest] = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60]
  const padded = (number: number) => String(number).padStart(2, '0')
  return hours > 0 ? `${hours}:${padded(minutes)}:${padded(rest)}` : `${minutes}:${padded(rest)}`
}

export const ORGANISATION_STYLE = `
.organisation h1{max-width:none;font-size:clamp(1.75rem,5vw,2.75rem)}
.organisation h1 a{color:inherit;text-decoration:none}
.organisation form{display:grid;grid-template-columns:1fr auto;gap:.35rem .75rem;max-width:36rem;margin-top:1.75rem}
.organisation label{grid-column:1/-1;font-weight:620}
.organisation input{min-width:0;padding:.7rem 1rem;border:1px solid var(--soft);border-radius:.75rem;background:var(--surface);color:var(--text);font:inherit}
.organisation button{font:inherit;font-weight:620;cursor:pointer}
.organisation .section{margin-top:2.5rem;overflow-wrap:anywhere}
.videos{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,14rem),1fr));gap:1.5rem 1.25rem;margin:0;padding:0;list-style:none}
.videos a{display:flex;flex-direction:column-reverse;justify-content:flex-end;gap:.6rem;height:100%;color:var(--text);text-decoration:none}
.videos a:hover .name{color:var(--accent);text-decoration:underline}
.name{font-weight:620;line-height:1.35;overflow-wrap:anywhere}
.still{position:relative;display:block;overflow:hidden;aspect-ratio:16/9;border:1px solid var(--line);border-radius:.75rem;background:#12161f}
.still img{display:block;width:100%;height:100%;object-fit:contain}
.time{position:absolute;right:.5rem;bottom:.5rem;padding:.05rem .45rem;border-radius:.375rem;background:#12161f;color:#fff;font-size:.8125rem;font-variant-numeric:tabular-nums}
.hidden{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.none{color:var(--soft)}
`

interface Texts {
  search: string
  submit: string
  videos: string
  /** `query` is escaped. */
  results: (query: string) => string
  none: string
  noMatch: string
  /** Text of an empty page that is not the whole list. */
  noneHere: string
  untitled: string
  duration: string
  pages: string
  first: string
  next: string
  home: string
}

const TEXTS: Readonly<Record<PageLanguage, Texts>> = {
  en: {
    search: 'Search these videos',
    submit: 'Search',
    videos: 'Videos',
    results: (query) => `Results for “${query}”`,
    none: 'There are no public videos yet.',
    noMatch: 'No public video matches. Try other or fewer words.',
    noneHere: 'No public videos on this page.',
    untitled: 'Untitled video',
    duration: 'Duration',
    pages: 'Pages',
    first: 'First page',
    next: 'Next page',
    home: 'About this platform',
  },
  de: {
    search: 'Diese Videos durchsuchen',
    submit: 'Suchen',
    videos: 'Videos',
    results: (query) => `Ergebnisse für „${query}“`,
    none: 'Es gibt noch keine öffentlichen Videos.',
    noMatch: 'Kein öffentliches Video passt. Versuchen Sie andere oder weniger Wörter.',
    noneHere: 'Keine öffentlichen Videos auf dieser Seite.',
    untitled: 'Video ohne Titel',
    duration: 'Dauer',
    pages: 'Seiten',
    first: 'Erste Seite',
    next: 'Nächste Seite',
    home: 'Über diese Plattform',
  },
}
