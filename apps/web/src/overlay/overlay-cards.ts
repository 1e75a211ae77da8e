import { addStyles } from '../dom/add-styles.ts'
import { createIcon } from '../dom/icons.ts'
import { text } from '../language/text.ts'
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
  frame.querySelector('.stage')?.after(layer)
  const closed = new Set<Overlay>()
  const close = (overlay: Overlay) => {
    closed.add(overlay)
    update()
  }
  const cards = new Map(overlays.map((overlay) => [overlay, createCard(overlay, () => close(overlay))]))
  const update = () => {
    const visibleOverlays = filterDueOverlays(overlays, { seconds: video.currentTime, hasEnded: video.ended }, navigator.languages)
    const visibleCards = visibleOverlays.filter((overlay) => !closed.has(overlay)).flatMap((overlay) => cards.get(overlay) ?? [])
    // A visible card keeps its element, so that it keeps focus and hover.
    if (visibleCards.length !== layer.children.length || visibleCards.some((card, index) => layer.children[index] !== card))
      layer.replaceChildren(...visibleCards)
  }
  for (const event of ['timeupdate', 'seeking', 'seeked', 'ended', 'play']) video.addEventListener(event, update, { signal })
  signal.addEventListener('abort', () => layer.remove(), { once: true })
  update()
}

function createCard(overlay: Overlay, onClose: () => void): HTMLElement {
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
  const close = createTextElement('button', '')
  close.type = 'button'
  close.className = 'close-card'
  close.setAttribute('aria-label', text('close'))
  close.append(createIcon('close'))
  close.addEventListener('click', onClose)
  element.prepend(close)
  return element
}

function createTextElement<Name extends 'h2' | 'p' | 'a' | 'button'>(name: Name, words: string): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  element.textContent = words
  element.dir = 'auto'
  return element
}
