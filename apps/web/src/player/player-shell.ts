import { requireElement } from '../dom/require-element.ts'
import styles from './player.css?inline'

/** The mutable parts of the player. */
export interface PlayerShell {
  frame: HTMLElement
  video: HTMLVideoElement
  setTitle(text: string): void
  /**
   * Shows a card instead of the video. `progress` (percent) adds a bar, `retry` adds a button that
   * calls it.
   */
  showNotice(heading: string, detail: string, extras?: { progress?: number | undefined; retry?: (() => void) | undefined }): void
  /** Shows the video instead of the card. */
  showVideo(): void
  /** Shows a short text above the video. An empty text removes it. */
  showBadge(text: string): void
  /**
   * Sets the duration of the complete video in seconds while only a part of it can be played. 0 means
   * that the duration of the media is complete.
   */
  setDuration(seconds: number): void
}

const markup = `
<div class="frame" data-shows="notice" data-idle="false">
  <video playsinline preload="metadata"></video>
  <header class="title"></header>
  <p class="badge" role="status" hidden></p>
  <div class="notice" role="status">
    <h1></h1>
    <p></p>
    <div class="bar" role="progressbar" aria-label="Encoding" aria-valuemin="0" aria-valuemax="100" hidden><span></span></div>
    <button type="button" class="retry" hidden>Retry</button>
  </div>
  <button class="start" type="button" data-does="play" aria-label="Play"><svg viewBox="0 0 24 24"><path d="M8 5v14l11-7z"/></svg></button>
  <div class="controls" role="group" aria-label="Player controls">
    <input class="seek" type="range" min="0" max="0" step="any" value="0" aria-label="Position" />
    <div class="row">
      <button type="button" data-does="play" aria-label="Play">
        <svg class="when-paused" viewBox="0 0 24 24"><path d="M8 5v14l11-7z"/></svg>
        <svg class="when-playing" viewBox="0 0 24 24"><path d="M6 5h4v14H6zM14 5h4v14h-4z"/></svg>
      </button>
      <button type="button" data-does="mute" aria-label="Mute">
        <svg class="when-loud" viewBox="0 0 24 24"><path d="M4 9v6h4l5 5V4L8 9zM15.5 8.2a5 5 0 0 1 0 7.6zM15.5 4.3a8.5 8.5 0 0 1 0 15.4v-2.1a6.5 6.5 0 0 0 0-11.2z"/></svg>
        <svg class="when-muted" viewBox="0 0 24 24"><path d="M4 9v6h4l5 5V4L8 9zM21.4 9.4 20 8l-2.3 2.3L15.4 8 14 9.4l2.3 2.3L14 14l1.4 1.4 2.3-2.3 2.3 2.3 1.4-1.4-2.3-2.3z"/></svg>
      </button>
      <input class="volume" type="range" min="0" max="1" step="0.05" value="1" aria-label="Volume" />
      <span class="time"><span class="now"></span><span class="total"></span></span>
      <span class="space"></span>
      <div class="captions" data-menu="captions" hidden></div>
      <label class="choice" data-menu="quality" hidden><span>Quality</span><select aria-label="Quality"></select></label>
      <button type="button" data-does="fullscreen" aria-label="Full screen"><svg viewBox="0 0 24 24"><path d="M5 5h6v2H7v4H5zM13 5h6v6h-2V7h-4zM5 13h2v4h4v2H5zM17 13h2v6h-6v-2h4z"/></svg></button>
    </div>
  </div>
</div>`

export function buildShell(root: ShadowRoot): PlayerShell {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(styles)
  root.adoptedStyleSheets = [sheet]
  root.innerHTML = markup
  const frame = requireElement(root, '.frame', HTMLElement)
  const title = requireElement(root, '.title', HTMLElement)
  const badge = requireElement(root, '.badge', HTMLElement)
  const heading = requireElement(root, '.notice h1', HTMLElement)
  const detail = requireElement(root, '.notice p', HTMLElement)
  const bar = requireElement(root, '.bar', HTMLElement)
  const filledBar = requireElement(root, '.bar span', HTMLElement)
  const retryButton = requireElement(root, '.retry', HTMLButtonElement)
  return {
    frame,
    video: requireElement(root, 'video', HTMLVideoElement),
    setTitle: (text) => setText(title, text),
    showNotice(head, text, { progress, retry } = {}) {
      frame.dataset['shows'] = 'notice'
      setText(heading, head)
      setText(detail, text)
      bar.hidden = progress === undefined
      bar.setAttribute('aria-valuenow', String(Math.floor(progress ?? 0)))
      filledBar.style.width = `${progress ?? 0}%`
      retryButton.hidden = retry === undefined
      retryButton.onclick = retry ?? null
    },
    showVideo() {
      frame.dataset['shows'] = 'video'
    },
    showBadge(text) {
      badge.hidden = text === ''
      setText(badge, text)
    },
    setDuration(seconds) {
      frame.dataset['length'] = String(seconds)
      frame.dispatchEvent(new Event('lengthchange'))
    },
  }
}

/** Sets the text only if it differs. Otherwise screen readers would announce it again. */
function setText(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text
}
