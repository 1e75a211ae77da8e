import './media-chrome-elements.ts'
import type MediaController from 'media-chrome/dist/media-controller.js'
import { addStyles } from '../dom/add-styles.ts'
import { type CardIcon, cardIconPath, icon } from '../dom/icons.ts'
import { requireElement } from '../dom/require-element.ts'
import { text } from '../language/text.ts'
import noticeStyles from './notice.css?inline'
import styles from './player.css?inline'
import { createPlayerStore, type PlayerSource } from './player-store.ts'
import themeStyles from './themes.css?inline'

/** The mutable parts of the player. */
export interface PlayerShell {
  frame: HTMLElement
  controller: MediaController
  video: HTMLVideoElement
  /** State that the controls show. `playVideo` replaces its parts. */
  source: PlayerSource
  setTitle(text: string): void
  showNotice(heading: string, detail: string, extras?: NoticeExtras): void
  /** Shows the video instead of the card. */
  showVideo(): void
  /** Shows a short text above the video. An empty text removes it. */
  showBadge(text: string): void
  /**
   * Sets the duration of the complete video in seconds while only a part of it can be played. 0
   * means that the duration of the media is complete.
   */
  setDuration(seconds: number): void
}

/** Parts of a card that some states have. */
export interface NoticeExtras {
  icon?: CardIcon | undefined
  /** Percent. Adds a bar. */
  progress?: number | undefined
  /** Adds a button that calls it. */
  retry?: (() => void) | undefined
}

/** Returns the markup of the player, with texts in the current language of the page. */
const markup = () => `
<div class="frame" data-shows="notice">
  <media-controller class="stage" nodefaultstore nohotkeys gesturesdisabled nomutedpref nosubtitleslangpref
    defaultstreamtype="on-demand" autohide="3">
    <video slot="media" playsinline preload="metadata"></video>
    <div slot="top-chrome" class="top"><h1 class="title" dir="auto"></h1></div>
    <p slot="top-chrome" class="badge" role="status" noautohide hidden></p>
    <media-loading-indicator slot="centered-chrome" class="waiting" loadingdelay="400" noautohide></media-loading-indicator>
    <media-play-button slot="centered-chrome" class="start" notooltip noautohide>
      ${icon('play', 'slot="play" class="play"')}${icon('replay', 'slot="play" class="replay"')}${icon('pause', 'slot="pause"')}
    </media-play-button>
    <media-settings-menu class="settings" id="settings" anchor="settings-button" hidden></media-settings-menu>
    <div class="controls" role="group">
      <media-time-range class="seek"><span slot="preview"></span></media-time-range>
      <div class="row">
        <media-play-button class="play-pause">
          ${icon('play', 'slot="play" class="play"')}${icon('replay', 'slot="play" class="replay"')}${icon('pause', 'slot="pause"')}
        </media-play-button>
        <div class="sound">
          <media-mute-button></media-mute-button>
          <media-volume-range class="volume"></media-volume-range>
        </div>
        <media-time-display class="time" showduration notoggle></media-time-display>
        <span class="chapter" dir="auto"></span>
        <span class="space"></span>
        <media-captions-button class="captions"></media-captions-button>
        <media-settings-menu-button class="settings-button" id="settings-button" invoketarget="settings">${icon('settings', 'slot="icon"')}</media-settings-menu-button>
        <media-airplay-button></media-airplay-button>
        <media-cast-button></media-cast-button>
        <media-pip-button></media-pip-button>
        <media-fullscreen-button></media-fullscreen-button>
      </div>
    </div>
  </media-controller>
  <section class="notice" role="status">
    <div class="card">
      <svg class="sign" viewBox="0 0 24 24" aria-hidden="true"><path/></svg>
      <h1 dir="auto"></h1>
      <p dir="auto"></p>
      <div class="bar" role="progressbar" aria-valuemin="0" aria-valuemax="100" hidden><span></span></div>
      <button type="button" class="retry" hidden></button>
    </div>
  </section>
</div>`

export function buildShell(root: ShadowRoot): PlayerShell {
  root.innerHTML = markup()
  const frame = requireElement(root, '.frame', HTMLElement)
  addStyles(frame, 'player', styles)
  addStyles(frame, 'notice', noticeStyles)
  addStyles(frame, 'themes', themeStyles)
  const controller = requireElement(root, 'media-controller', HTMLElement) as MediaController
  const video = requireElement(root, 'video', HTMLVideoElement)
  const source: PlayerSource = { playback: undefined, duration: 0, chapters: [], onChange: new EventTarget() }
  controller.fullscreenElement = frame
  controller.mediaStore = createPlayerStore(video, frame, source)
  setLabels(root)
  const show = (part: 'video' | 'notice') => {
    if (frame.dataset['shows'] === part) return
    frame.dataset['shows'] = part
    source.onChange.dispatchEvent(new Event('change'))
  }
  const title = requireElement(root, '.title', HTMLElement)
  const badge = requireElement(root, '.badge', HTMLElement)
  return {
    frame,
    controller,
    video,
    source,
    setTitle: (text) => setText(title, text),
    showNotice: createNotice(frame, show),
    showVideo: () => show('video'),
    showBadge(text) {
      badge.hidden = text === ''
      setText(badge, text)
    },
    setDuration(seconds) {
      source.duration = seconds
      source.onChange.dispatchEvent(new Event('change'))
    },
  }
}

function setLabels(root: ShadowRoot): void {
  requireElement(root, '.controls', HTMLElement).setAttribute('aria-label', text('playerControls'))
  // media-chrome sets `aria-checked`, which buttons do not have.
  requireElement(root, '.captions', HTMLElement).setAttribute('role', 'switch')
  // The settings menu has no header. Its button would be part of the menu for assistive technology.
  const back = root.querySelector('.settings')?.shadowRoot?.querySelector('[part~=back]')
  back?.replaceWith(...back.querySelectorAll('slot[name=title]'))
}

function createNotice(frame: HTMLElement, show: (part: 'notice') => void): PlayerShell['showNotice'] {
  const sign = requireElement(frame, '.sign', SVGElement)
  const heading = requireElement(frame, '.notice h1', HTMLElement)
  const detail = requireElement(frame, '.notice p', HTMLElement)
  const bar = requireElement(frame, '.bar', HTMLElement)
  const filledBar = requireElement(frame, '.bar span', HTMLElement)
  const retryButton = requireElement(frame, '.retry', HTMLButtonElement)
  bar.setAttribute('aria-label', text('encodingProgress'))
  retryButton.textContent = text('retry')
  return (head, words, { icon: iconName, progress, retry } = {}) => {
    show('notice')
    setText(heading, head)
    setText(detail, words)
    sign.toggleAttribute('hidden', iconName === undefined)
    sign.querySelector('path')?.setAttribute('d', iconName === undefined ? '' : cardIconPath(iconName))
    bar.hidden = progress === undefined
    bar.setAttribute('aria-valuenow', String(Math.floor(progress ?? 0)))
    filledBar.style.width = `${progress ?? 0}%`
    retryButton.hidden = retry === undefined
    retryButton.onclick = retry ?? null
  }
}

/** Sets the text only if it differs. Otherwise screen readers would announce it again. */
function setText(element: HTMLElement, words: string): void {
  if (element.textContent !== words) element.textContent = words
}
