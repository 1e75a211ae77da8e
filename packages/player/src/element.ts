import { createPlayer, type Player, PlayerError, type PlayerEventName, type PlayerState } from './player.ts'

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
const DEFAULT_TITLE = 'Video'
const SANDBOX = 'allow-scripts allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-presentation allow-downloads'

// Servers that render a page import this file, too. They have no elements, so the type of the class does not matter there.
const Base = typeof HTMLElement === 'undefined' ? (class {} as typeof HTMLElement) : HTMLElement

/**
 * `<vitascope-player host="https://video.example.org" video="42">` shows a video in a frame. It has the
 * methods, properties and events of a media element.
 */
export class VitascopePlayerElement extends Base {
  static readonly observedAttributes = ['host', 'video', 'title', ...PARAMETERS, ...FLAGS]
  #player: Player | undefined
  #isQueued = false
  /** Volume of a command without a result so far. A command for `muted` must not restore the old volume. */
  #requestedVolume: number | undefined

  /** Controls of the player in the frame. Undefined without `host` and `video`. */
  get controller(): Player | undefined {
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
    return this.#requestedVolume ?? this.state?.volume ?? 1
  }

  set volume(volume: number) {
    this.#requestedVolume = volume
    this.#send((player) =>
      player.setVolume(volume).finally(() => {
        if (this.#requestedVolume === volume) this.#requestedVolume = undefined
      }),
    )
  }

  get muted(): boolean {
    return this.state?.muted ?? this.hasAttribute('muted')
  }

  /** Before the player is ready, it sets the attribute. */
  set muted(isMuted: boolean) {
    if (this.state) this.#send((player) => player.setVolume(this.volume, isMuted))
    else this.toggleAttribute('muted', isMuted)
  }

  get playbackRate(): number {
    return this.state?.rate ?? 1
  }

  set playbackRate(rate: number) {
    this.#send((player) => player.setRate(rate))
  }

  /** Rejects like that of a media element, if the player does not start. */
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

  attributeChangedCallback(name: string, before: string | null, after: string | null): void {
    const frame = this.shadowRoot?.querySelector('iframe')
    if (name === 'title' && frame) frame.title = after ?? DEFAULT_TITLE
    // The sound of a video that is shown changes without another load of the frame.
    else if (name === 'muted' && this.state) this.muted = after !== null
    else if (name !== 'title' && before !== after) this.#queueRender()
  }

  /** A failed command reports `refused`. It is never an exception of the page. */
  #send(command: (player: Player) => Promise<PlayerState>): void {
    if (!this.#player) return
    command(this.#player).catch((error: unknown) => {
      const reason = error instanceof PlayerError ? error.reason : 'bad_argument'
      // The player itself reports the commands that it has refused.
      if (error instanceof PlayerError && reason !== 'timeout') return
      this.dispatchEvent(new CustomEvent('refused', { detail: { vitascope: 1, type: 'event', event: 'refused', reason } }))
    })
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
    this.#requestedVolume = undefined
    const source = this.#readSource()
    const root = this.shadowRoot ?? this.attachShadow({ mode: 'open' })
    if (source === undefined) {
      root.replaceChildren()
      return
    }
    const frame = this.ownerDocument.createElement('iframe')
    frame.src = source
    frame.title = this.getAttribute('title') ?? DEFAULT_TITLE
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

/** Defines `<vitascope-player>`. A second call and a call on a server have no effect. */
export function definePlayerElement(name = 'vitascope-player'): void {
  if (typeof customElements !== 'undefined' && !customElements.get(name)) customElements.define(name, VitascopePlayerElement)
}

definePlayerElement()
