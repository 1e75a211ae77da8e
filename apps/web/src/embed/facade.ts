import { readEmbed } from './embed-options.ts'
import styles from './facade.css?inline'
import { createPlayerFrame } from './player-frame.ts'

const FACADE = 'div[data-vitascope-video]'

/**
 * Shows a poster with a play button in every façade of the page, also in those that are added
 * later. The player is loaded after a click. `script` is the URL of the embed script.
 */
export function showFacades(page: Document, script: string): void {
  const show = (root: ParentNode) => {
    for (const element of root.querySelectorAll<HTMLElement>(FACADE)) showFacade(element, script)
  }
  show(page)
  const observer = new MutationObserver((mutations) => {
    for (const { addedNodes } of mutations) {
      for (const node of addedNodes) {
        if (!(node instanceof HTMLElement)) continue
        if (node.matches(FACADE)) showFacade(node, script)
        show(node)
      }
    }
  })
  observer.observe(page, { childList: true, subtree: true })
}

/**
 * Fills an element. The shadow root separates the styles from those of the page, and replaces a
 * link in the element. Styles are set by script, because a Content-Security-Policy never blocks
 * that.
 */
function showFacade(element: HTMLElement, script: string): void {
  if (element.shadowRoot) return
  const { dataset } = element
  const embed = readEmbed(script, { ...dataset, id: dataset['vitascopeVideo'] })
  const root = element.attachShadow({ mode: 'open' })
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(styles)
  root.adoptedStyleSheets = [sheet]
  element.style.width = embed.width
  if (embed.height === undefined) element.style.aspectRatio = embed.ratio
  else element.style.height = embed.height

  const page = element.ownerDocument
  const poster = createPoster(page, posterUrl(embed.src))
  const button = createPlayButton(page, dataset['title'])
  root.append(poster, button)
  button.addEventListener('click', () => {
    const frame = createPlayerFrame(page, { ...embed, src: withAutoplay(embed.src), width: '100%', height: '100%' })
    frame.loading = 'eager'
    const waiting = createPart(page, 'waiting')
    frame.addEventListener('load', () => waiting.remove(), { once: true })
    root.replaceChildren(poster, waiting, frame)
    // The focused button was removed, so the focus moves to the frame, where the keys of the player
    // work.
    frame.focus()
  })
}

function createPoster(page: Document, src: string): HTMLImageElement {
  const poster = page.createElement('img')
  poster.alt = ''
  poster.loading = 'lazy'
  poster.decoding = 'async'
  // A protected video has no public poster.
  poster.addEventListener('error', () => poster.remove(), { once: true })
  poster.addEventListener('load', () => poster.classList.add('shown'), { once: true })
  poster.src = src
  return poster
}

function createPlayButton(page: Document, title: string | undefined): HTMLButtonElement {
  const button = page.createElement('button')
  button.type = 'button'
  button.setAttribute('aria-label', title ? `Play video: ${title}` : 'Play video')
  if (title) {
    const text = createPart(page, 'title')
    text.textContent = title
    button.append(text)
  }
  const icon = createPart(page, 'icon')
  const svg = page.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  const triangle = page.createElementNS(SVG, 'path')
  triangle.setAttribute('d', 'M8 5v14l11-7z')
  svg.append(triangle)
  icon.append(svg)
  button.append(icon)
  return button
}

const SVG = 'http://www.w3.org/2000/svg'

function createPart(page: Document, name: string): HTMLSpanElement {
  const part = page.createElement('span')
  part.className = name
  return part
}

/** Returns the URL of the poster, whose path is below that of the player page. */
function posterUrl(player: string): string {
  const { origin, pathname } = new URL(player)
  return `${origin}${pathname}/poster.jpg`
}

function withAutoplay(player: string): string {
  const url = new URL(player)
  url.searchParams.set('autoplay', '1')
  return url.href
}
