import { createPlayer, type Player, type PlayerEventName, type PlayerState } from './player.ts'

export type { PlayerState } from './player.ts'

const FORWARDED: readonly PlayerEventName[] = [
  'ready',
  'play',
  'pause',
  'timeupdate',
  'ended',
  'error',
  'trackchange',
  'chapterchange',
  'qualitychange',
  'volumechange',
  'ratechange',
  'refused',
]
/** Attributes that become parameters of the player page. */
const PARAMETERS = ['token', 'start', 'end', 'lang', 'player'] as const
const FLAGS = ['autoplay', 'muted', 'loop', 'presentation'] as const
const SANDBOX = 'allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-presentation allow-downloads'

/**
 * `<vitascope-player host="https://video.example.org" video="42">` shows a video in a frame. It has the
 * methods, properties and events of a media element.
 */
export class VitascopePlayerElement extends HTMLElement {
  static readonly observedAttributes = ['host', 'video', ...PARAMETERS, ...FLAGS]
  #player: Player | undefined
  #isQueued = false

  /** Controls of the player in the frame. Undefined without `host` and `video`. */
  get player(): Player | undefined {
    return this.#player
  }

  get state(): PlayerState | undefined {
    return this.#player?.state
  }

  get paused(): boolean {
    return this.state?.paused ?? true
  }

  get ended(): boolean {
    return this.state?.ended ?? false
  }

  get duration(): number {
    return this.state?.duration || Number.NaN
  }

  get currentTime(): number {
    return this.state?.currentTime ?? 0
  }

  set currentTime(seconds: number) {
    this.#send((player) => player.seek(seconds))
  }

  get volume(): number {
    return this.state?.volume ?? 1
  }

  set volume(volume: number) {
    this.#send((player) => player.setVolume(volume))
  }

  get muted(): boolean {
    return this.state?.muted ?? this.hasAttribute('muted')
  }

  set muted(isMuted: boolean) {
    this.#send((player) => player.setVolume(this.volume, isMuted))
  }

  get playbackRate(): number {
    return this.state?.rate ?? 1
  }

  set playbackRate(rate: number) {
    this.#send((player) => player.setRate(rate))
  }

  async play(): Promise<void> {
    await this.#player?.play()
  }

  pause(): void {
    this.#send((player) => player.pause())
  }

  connectedCallback(): void {
    this.#queueRender()
  }

  disconnectedCallback(): void {
    this.#player?.destroy()
    this.#player = undefined
  }

  attributeChangedCallback(): void {
    this.#queueRender()
  }

  /** A failed command reports `refused`. It is never an exception of the page. */
  #send(command: (player: Player) => Promise<PlayerState>): void {
    if (this.#player) command(this.#player).catch((error: unknown) => this.dispatchEvent(new CustomEvent('refused', { detail: { error } })))
  }

  /** Several attributes that change together load the frame once. */
  #queueRender(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    queueMicrotask(() => {
      this.#isQueued = false
      if (this.isConnected) this.#render()
    })
  }

  #render(): void {
    this.#player?.destroy()
    this.#player = undefined
    const source = this.#readSource()
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
    if (source === undefined) {
      root.replaceChildren()
      return
    }
    const frame = this.ownerDocument.createElement('iframe')
    frame.src = source
    frame.title = this.getAttribute('title') ?? 'Video'
    frame.setAttribute('sandbox', SANDBOX)
    frame.allow = 'autoplay; fullscreen; picture-in-picture; encrypted-media; clipboard-write'
    frame.allowFullscreen = true
    // Styles that scripts set are never blocked by a Content-Security-Policy.
    Object.assign(frame.style, { border: '0', width: '100%', height: '100%', display: 'block' })
    if (this.style.display === '') this.style.display = 'block'
    if (this.style.aspectRatio === '' && this.style.height === '') this.style.aspectRatio = '16 / 9'
    root.replaceChildren(frame)
    this.#player = createPlayer(frame)
    for (const event of FORWARDED) this.#player.on(event, (detail) => this.dispatchEvent(new CustomEvent(event, { detail })))
  }

  #readSource(): string | undefined {
    const [host, video] = [this.getAttribute('host'), this.getAttribute('video')]
    if (!host || !video || !URL.canParse(host)) return undefined
    const source = new URL(`/player/${encodeURIComponent(video)}`, host)
    for (const name of PARAMETERS) if (this.hasAttribute(name)) source.searchParams.set(name, this.getAttribute(name) ?? '')
    for (const name of FLAGS) if (this.hasAttribute(name)) source.searchParams.set(name, '1')
    return source.href
  }
}

/** Defines `<vitascope-player>`. A second call has no effect. */
export function definePlayerElement(name = 'vitascope-player'): void {
  if (!customElements.get(name)) customElements.define(name, VitascopePlayerElement)
}

definePlayerElement()
