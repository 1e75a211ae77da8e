import { addStyles } from '../dom/add-styles.ts'
import { filterDueOverlays, type Overlay } from './overlay.ts'
import styles from './overlay-cards.css?inline'

/**
 * Shows the overlays of a video over its picture, each during its time, until the signal aborts.
 */
export function showOverlays(frame: HTMLElement, video: HTMLVideoElement, overlays: readonly Overlay[], signal: AbortSignal): void {
  if (overlays.length === 0) return
  addStyles(frame, 'overlays', styles)
  const layer = document.createElement('div')
  layer.className = 'overlays'
  frame.querySelector('.controls')?.before(layer)
  const cards = new Map(overlays.map((overlay) => [overlay, createCard(overlay)]))
  const update = () => {
    const visibleOverlays = filterDueOverlays(overlays, { seconds: video.currentTime, hasEnded: video.ended }, navigator.languages)
    const visibleCards = visibleOverlays.flatMap((overlay) => cards.get(overlay) ?? [])
    // A visible card keeps its element, so that it keeps focus and hover.
    if (visibleCards.length !== layer.children.length || visibleCards.some((card, index) => layer.children[index] !== card))
      layer.replaceChildren(...visibleCards)
  }
  for (const event of ['timeupdate', 'seeking', 'seeked', 'ended', 'play']) video.addEventListener(event, update, { signal })
  signal.addEventListener('abort', () => layer.remove(), { once: true })
  update()
}

function createCard(overlay: Overlay): HTMLElement {
  const element = document.createElement('section')
  element.className = 'overlay'
  element.lang = overlay.language
  if (overlay.width > 0) element.style.width = `${overlay.width}px`
  if (overlay.image !== '') {
    const image = document.createElement('img')
    image.src = overlay.image
    image.alt = ''
    element.append(image)
  }
  element.append(createTextElement('h2', overlay.title), createTextElement('p', overlay.description))
  if (overlay.link !== '') {
    const link = createTextElement('a', overlay.linkText || new URL(overlay.link).host)
    link.href = overlay.link
    link.target = '_blank'
    link.rel = 'noopener noreferrer'
    element.append(link)
  }
  return element
}

function createTextElement<Name extends 'h2' | 'p' | 'a'>(name: Name, text: string): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  element.textContent = text
  return element
}
