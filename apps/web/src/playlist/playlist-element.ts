import { icon } from '../dom/icons.ts'
import { requireElement } from '../dom/require-element.ts'
import { text } from '../language/text.ts'
import { buildShell } from '../player/player-shell.ts'
import type { Skin } from '../player/skin.ts'
import { readPreferences, writePreferences } from '../player/viewer-preferences.ts'
import { VitascopePlayer } from '../player/vitascope-player.ts'
import styles from './playlist-element.css?inline'
import { buildList } from './playlist-list.ts'
import { findNextPlayable, toPlayOrder } from './playlist-order.ts'
import type { PlaylistEntry, PlaylistRecord } from './playlist-record.ts'

/** Playback parameters in the address of the page. */
export interface PlayParameters {
  token: string | undefined
  autoplay: boolean
  muted: boolean
  skin: Skin | undefined
}

const markup = `
<div class="page" data-list="closed">
  <div class="screen"></div>
  <header class="bar">
    <div class="words">
      <h1 dir="auto"></h1>
      <p role="status" dir="auto"></p>
    </div>
    <button type="button" data-does="previous" aria-keyshortcuts="Shift+P">${icon('previous')}</button>
    <button type="button" data-does="next" aria-keyshortcuts="Shift+N">${icon('next')}</button>
    <button type="button" data-does="continue" aria-pressed="true">${icon('continue')}</button>
    <button type="button" data-does="list" aria-expanded="false" aria-controls="list">${icon('list')}</button>
  </header>
  <ol id="list" class="list"></ol>
</div>`

/**
 * `<vitascope-playlist>` plays the videos of a playlist one after another in one player. The list
 * is next to the player or below it.
 */
export class VitascopePlaylist extends HTMLElement {
  readonly #record: PlaylistRecord
  readonly #parameters: PlayParameters
  readonly #entries: PlaylistEntry[]
  /** Plays the current video. */
  readonly player = new VitascopePlayer()
  #stop = new AbortController()

  constructor(record: PlaylistRecord, parameters: PlayParameters) {
    super()
    this.#record = record
    this.#parameters = parameters
    this.#entries = toPlayOrder(record)
  }

  connectedCallback(): void {
    this.#stop = new AbortController()
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
    const sheet = new CSSStyleSheet()
    sheet.replaceSync(styles)
    root.adoptedStyleSheets = [sheet]
    root.innerHTML = markup
    document.title = this.#record.title || text('playlist')
    requireElement(root, 'h1', HTMLElement).textContent = this.#record.title || text('playlist')
    setLabels(root)
    wireListButton(root, this.#record.openInPlaylistView)
    if (this.#entries.length === 0) showEmpty(root)
    else this.#begin(root, this.#stop.signal)
  }

  disconnectedCallback(): void {
    this.#stop.abort()
  }

  #begin(root: ShadowRoot, signal: AbortSignal): void {
    const entries = this.#entries
    const { token, autoplay, muted, skin } = this.#parameters
    const status = requireElement(root, '[role=status]', HTMLElement)
    const [previous, next] = [
      requireElement(root, '[data-does=previous]', HTMLButtonElement),
      requireElement(root, '[data-does=next]', HTMLButtonElement),
    ]
    const list = buildList(requireElement(root, '.list', HTMLElement), entries, token, (index) => openEntry(index))
    let current = 0

    const update = () => {
      list.markCurrent(current)
      status.textContent = text('videoOfList', { number: current + 1, count: entries.length, title: entries[current]?.title ?? '' })
      // `disabled` would remove the focus from the button that was just pressed.
      previous.setAttribute('aria-disabled', String(current === 0))
      next.setAttribute('aria-disabled', String(current === entries.length - 1))
    }
    const openEntry = (index: number | undefined) => {
      const entry = index === undefined ? undefined : entries[index]
      if (index === undefined || !entry) return
      current = index
      update()
      document.title = entry.title
      // The page that embeds the playlist may have loaded another video with a token of its own.
      this.player.token = token
      this.player.open(entry.videoId, true)
    }
    const moves = { previous: () => openEntry(current - 1), next: () => openEntry(current + 1) }

    this.player.token = token
    this.player.muted = muted
    this.player.skin = skin
    this.player.autoplay = autoplay
    this.player.videoId = entries[0]?.videoId ?? ''
    const shouldContinue = wireContinueButton(root)
    const onEnded = () => shouldContinue() && openEntry(findNextPlayable(entries, current, token !== undefined))
    this.player.addEventListener('ended', onEnded, { signal })
    previous.addEventListener('click', moves.previous, { signal })
    next.addEventListener('click', moves.next, { signal })
    window.addEventListener('keydown', (event) => onShortcut(event, moves), { signal })
    wireMediaKeys(moves, signal)
    requireElement(root, '.screen', HTMLElement).append(this.player)
    update()
  }
}

function setLabels(root: ShadowRoot): void {
  const labels = {
    previous: text('previousVideo'),
    next: text('nextVideo'),
    continue: text('playNextAutomatically'),
    list: text('listOfVideos'),
  }
  for (const [name, label] of Object.entries(labels)) {
    const button = requireElement(root, `[data-does=${name}]`, HTMLButtonElement)
    button.setAttribute('aria-label', label)
    button.title = label
  }
  requireElement(root, '.list', HTMLElement).setAttribute('aria-label', text('videos'))
}

/**
 * Wires the button for playing the next video. Returns the function that reads the viewer's choice.
 */
function wireContinueButton(root: ShadowRoot): () => boolean {
  const button = requireElement(root, '[data-does=continue]', HTMLButtonElement)
  let isOn = readPreferences().playNext
  const show = () => button.setAttribute('aria-pressed', String(isOn))
  button.addEventListener('click', () => {
    isOn = !isOn
    writePreferences({ playNext: isOn })
    show()
  })
  show()
  return () => isOn
}

/** Wires the button that shows and hides the list. A hidden list is not reachable by keyboard. */
function wireListButton(root: ShadowRoot, isOpen: boolean): void {
  const page = requireElement(root, '.page', HTMLElement)
  const button = requireElement(root, '[data-does=list]', HTMLButtonElement)
  const setOpen = (open: boolean) => {
    page.dataset['list'] = open ? 'open' : 'closed'
    button.setAttribute('aria-expanded', String(open))
  }
  button.addEventListener('click', () => setOpen(page.dataset['list'] !== 'open'))
  setOpen(isOpen)
}

function showEmpty(root: ShadowRoot): void {
  const element = document.createElement('div')
  requireElement(root, '.screen', HTMLElement).append(element)
  buildShell(element.attachShadow({ mode: 'open' })).showNotice(text('emptyPlaylist'), text('emptyPlaylistDetail'), { icon: 'missing' })
  for (const button of root.querySelectorAll('.bar button')) button.remove()
}

function onShortcut(event: KeyboardEvent, moves: { previous: () => void; next: () => void }): void {
  if (!event.shiftKey || event.altKey || event.ctrlKey || event.metaKey) return
  const [target] = event.composedPath()
  if (target instanceof HTMLInputElement && target.type !== 'range') return
  if (event.key === 'N') moves.next()
  else if (event.key === 'P') moves.previous()
}

/** Handles media keys of headphones, keyboards and lock screens until the signal aborts. */
function wireMediaKeys(moves: { previous: () => void; next: () => void }, signal: AbortSignal): void {
  if (!('mediaSession' in navigator)) return
  const { mediaSession } = navigator
  const setHandlers = (previous: (() => void) | null, next: (() => void) | null) => {
    mediaSession.setActionHandler('previoustrack', previous)
    mediaSession.setActionHandler('nexttrack', next)
  }
  setHandlers(moves.previous, moves.next)
  signal.addEventListener('abort', () => setHandlers(null, null), { once: true })
}
