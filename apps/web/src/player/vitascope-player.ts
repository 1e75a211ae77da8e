import type { PlayerControl } from '../embed-api/player-control.ts'
import { text } from '../language/text.ts'
import { checkEmbedder } from '../page/check-embedder.ts'
import { withToken } from '../page/page-address.ts'
import type { CaptionPreference } from '../playback/show-on-load.ts'
import { pause } from '../recovery/pause.ts'
import { type AccessToken, keepAccess } from '../video/access-token.ts'
import type { EmbedApiSettings } from '../video/embed-api-settings.ts'
import { fetchVideo } from '../video/fetch-video.ts'
import { type PageState, toPageState, type VideoResult } from '../video/page-state.ts'
import type { VideoRecord } from '../video/video-record.ts'
import { applyTheme } from './apply-theme.ts'
import { isPreview, requestContact, wasSubmitted } from './contact-form-gate.ts'
import { focusPlay } from './controls.ts'
import { requestPassword } from './password-gate.ts'
import { playVideo } from './play-video.ts'
import type { PlayedPart } from './played-part.ts'
import { createPlayerControl } from './player-control.ts'
import { buildShell, type PlayerShell } from './player-shell.ts'
import { type PreviewedLook, withLook } from './previewed-look.ts'
import { playRolls } from './rolls.ts'
import { readSkin, type Skin } from './skin.ts'
import { createCaptionPreference } from './viewer-preferences.ts'

/** Milliseconds between two requests for the record while the video is encoded. */
const POLL_INTERVAL_MS = 2_000
/** Milliseconds between two requests after a failure, during playback. */
const POLL_AFTER_FAILURE_MS = 5_000

/** `<vitascope-player>` shows one video of this server, from the start of its encoding. */
export class VitascopePlayer extends HTMLElement {
  videoId = ''
  token: string | undefined
  autoplay = false
  muted = false
  /** Shows the slides of the video's presentation next to the video. */
  presentation = false
  /** Design of the controls. Without one, the theme of the video selects it. */
  skin: Skin | undefined
  /**
   * The page has other content. The player uses keys only while it has the focus, does not set the title of the page, and
   * does not count its views.
   */
  isInPage = false
  /** Part of the video that is played, and whether it is repeated. */
  playedPart: PlayedPart = { start: 0, end: undefined, loop: false }
  /** Result that is known without a request. */
  knownResult: VideoResult | undefined
  /** Response to a request that was sent before the player was created. It is used once. */
  firstResult: Promise<VideoResult> | undefined
  /**
   * Called before the player reports that the video does not exist. Returns true if another element
   * was shown instead.
   */
  onMissing: () => Promise<boolean> = async () => false
  /** Called with the page state after each request for the video. */
  onState: (state: PageState) => void = () => {}
  /** Text of the card that is shown instead of the video. It is empty without a card. */
  card = ''
  /** Called with the text of each card that is shown instead of the video. */
  onCard: (message: string) => void = () => {}
  /** Token that the viewer got for the password of the video. */
  #accessToken: string | undefined
  /** Position at which the video continues, if it was opened again. */
  #resumeSeconds: number | undefined
  #record: VideoRecord | undefined
  /** Video of `#record`. While another video is loaded, its record is not known yet. */
  #recordId = ''
  readonly #firstState = Promise.withResolvers<void>()
  /** True while the viewer sees a message, a form or another video instead of the video. */
  #isWaiting = false
  /** True if the page that embeds the player has loaded the video. */
  #isLoadedByPage = false
  #stop = new AbortController()
  #shell: PlayerShell | undefined
  /** Look that the console shows before it is stored. */
  #look: PreviewedLook | undefined
  readonly #captionPreference: CaptionPreference = createCaptionPreference()
  #endPlayback = () => {}
  /** Sets the URL of the storyboard for the seek bar, without a token. */
  #setStoryboard: (storyboard: string) => void = () => {}

  connectedCallback(): void {
    this.#shell = buildShell(this.shadowRoot ?? this.attachShadow({ mode: 'open' }))
    this.#shell.video.muted = this.muted
    this.open(this.videoId, this.autoplay)
  }

  /**
   * Controls of the player for a page that embeds it. Undefined before the player is in the page.
   */
  createControl(): PlayerControl | undefined {
    if (!this.#shell) return undefined
    return createPlayerControl({
      shell: this.#shell,
      readVideo: () => ({ videoId: this.videoId, title: this.#recordId === this.videoId ? (this.#record?.title ?? '') : '' }),
      isWaiting: () => this.#isWaiting,
      load: (videoId, { token, autoplay }) => {
        this.token = token
        this.#isLoadedByPage = true
        // These are of the first video only.
        this.knownResult = undefined
        this.firstResult = undefined
        this.playedPart = { start: 0, end: undefined, loop: this.playedPart.loop }
        this.open(videoId, autoplay)
      },
    })
  }

  /** Resolves when the first request for the first video has ended, with or without a record. */
  whenFirstState(): Promise<void> {
    return this.#firstState.promise
  }

  /** Returns the settings of the current video about pages that embed it. */
  readEmbedApiSettings(): EmbedApiSettings {
    return this.#record?.settings.embedApi ?? { isEnabled: true, domains: [] }
  }

  /** Shows another theme and profile than those of the video, until the page ends. Only the console calls it. */
  preview(look: PreviewedLook): void {
    this.#look = look
    this.#showLook()
  }

  /**
   * Opens another video in the same player. Volume, full screen, the permission for autoplay and
   * the choice of captions are kept.
   */
  open(videoId: string, autoplay: boolean): void {
    this.videoId = videoId
    this.autoplay = autoplay
    if (!this.#shell) return
    this.#stop.abort()
    this.#stop = new AbortController()
    this.#endPlayback = () => {}
    this.#accessToken = undefined
    this.#resumeSeconds = undefined
    this.#shell.frame.dataset['started'] = 'false'
    this.#shell.showBadge('')
    // Videos that were played before this one may have been interrupted.
    delete this.#shell.frame.dataset['roll']
    this.card = ''
    this.#setWaiting(false)
    void this.#follow(this.#shell, this.#stop.signal)
  }

  /** Opens the same video again, at the same position. The last password of the viewer, if it still fits, is used again. */
  #reopen(): void {
    if (!this.#shell) return
    const { video } = this.#shell
    const [position, isPlaying] = [video.currentTime, !video.paused]
    this.open(this.videoId, isPlaying)
    this.#resumeSeconds = position
  }

  disconnectedCallback(): void {
    this.#stop.abort()
  }

  /**
   * Polls the video until its state is final: playable and complete, or permanently unavailable.
   */
  async #follow(shell: PlayerShell, signal: AbortSignal): Promise<void> {
    let isPlaying = false
    let pollNow = new AbortController()
    while (!signal.aborted) {
      const denied = this.#isLoadedByPage && !isPlaying ? await this.#checkEmbedder(shell, signal) : undefined
      const firstResult = this.firstResult
      this.firstResult = undefined
      const result = denied ?? this.knownResult ?? (await (firstResult ?? fetchVideo(this.videoId, signal, this.#currentToken())))
      if ('status' in result && result.status === 404 && (await this.onMissing())) return
      if (signal.aborted) return
      const state = toPageState(result, this.#currentToken() !== undefined)
      const title = 'record' in result ? result.record.title : ''
      if ('record' in result) {
        this.#record = result.record
        this.#recordId = this.videoId
        this.#setTitle(shell, title)
      }
      shell.frame.dataset['skin'] = this.skin ?? ('record' in result ? readSkin(result.record.skin) : undefined) ?? 'akita'
      this.#showLook()
      this.onState(state)
      this.#firstState.resolve()
      if (state.kind === 'playable') {
        this.card = ''
        const isLocked = !isPlaying && state.record.settings.passwordProtected && this.token === undefined
        if (isLocked) this.#setWaiting(true)
        const entry = isLocked ? await requestPassword(shell, this.videoId, state.record.title, signal) : undefined
        if (isLocked && entry === undefined) return
        if (entry) this.#keepAccess(entry.access, signal)
        if (!isPlaying) {
          const start = await this.#prepare(shell, state.record, signal)
          if (start === undefined) return
          this.#play(shell, state.record, start.shouldAutoplay, signal)
          // The focused field of a form has been removed.
          if (entry?.wasEntered || start.hadForm) focusPlay(shell.frame)
        }
        isPlaying = true
        this.#setStoryboard(state.record.storyboard)
        shell.setDuration(state.isEncoding ? state.record.duration : 0)
        shell.showBadge(state.isEncoding ? text('encodingBadge', { percent: Math.floor(state.record.progress) }) : '')
        if (!state.isEncoding) return
      } else if (!isPlaying || isFinal(state)) {
        // If encoding fails, the part that could be played during encoding is no longer available.
        this.#endPlayback()
        this.#showCard(shell, state, title, isFinal(state) ? undefined : () => pollNow.abort())
        if (isFinal(state)) return
      }
      await pause(
        isPlaying && state.kind === 'message' ? POLL_AFTER_FAILURE_MS : POLL_INTERVAL_MS,
        AbortSignal.any([signal, pollNow.signal]),
      )
      if (pollNow.signal.aborted) pollNow = new AbortController()
    }
  }

  #checkEmbedder(shell: PlayerShell, signal: AbortSignal): Promise<VideoResult | undefined> {
    const showOutage = () => {
      const state = toPageState({ unreachable: true }, this.token !== undefined)
      if (state.kind === 'message') this.#showCard(shell, state, '')
    }
    return checkEmbedder(this.videoId, this.token, readEmbedder(), signal, showOutage)
  }

  /**
   * Shows the contact form and plays the videos before this one. Returns undefined if the signal
   * aborts first.
   */
  async #prepare(
    shell: PlayerShell,
    record: VideoRecord,
    signal: AbortSignal,
  ): Promise<{ shouldAutoplay: boolean; hadForm: boolean } | undefined> {
    const { contactForm } = record
    const hadForm = contactForm !== undefined && !wasSubmitted(contactForm.id) && !isPreview()
    if (hadForm) this.#setWaiting(true)
    if (hadForm && !(await requestContact(shell, contactForm, this.videoId, signal))) return undefined
    const shouldAutoplay = this.autoplay || hadForm || hasAutoplaySetting(record)
    const hasPlayedRolls = await this.#playRolls(shell, 'pre', record, shouldAutoplay, signal)
    if (signal.aborted) return undefined
    return { shouldAutoplay: shouldAutoplay || hasPlayedRolls, hadForm }
  }

  #playRolls(
    shell: PlayerShell,
    kind: 'pre' | 'post',
    record: VideoRecord,
    shouldAutoplay: boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { rolls } = record.settings
    if (rolls[kind].length > 0) this.#setWaiting(true)
    return playRolls(
      {
        ...{ shell, kind, shouldAutoplay, captionPreference: this.#captionPreference, showTimer: rolls.showTimer },
        isInPage: this.isInPage,
        videoIds: rolls[kind].filter((videoId) => videoId !== this.videoId),
        poster: kind === 'pre' ? withToken(record.poster, this.#currentToken(), location.href) : '',
      },
      signal,
    )
  }

  /** At the end of the video, plays the videos after it and reports the end of all of them. */
  async #finish(shell: PlayerShell, record: VideoRecord, signal: AbortSignal): Promise<void> {
    if (record.settings.rolls.post.length > 0) {
      this.#endPlayback()
      await this.#playRolls(shell, 'post', record, true, signal)
      if (signal.aborted) return
      // The video can be played again.
      this.#play(shell, record, false, signal, true)
    }
    this.dispatchEvent(new Event('ended'))
  }

  #setTitle(shell: PlayerShell, title: string): void {
    shell.setTitle(title)
    if (!this.isInPage) document.title = title || text('video')
  }

  #showCard(shell: PlayerShell, state: CardState, title: string, retry?: () => void): void {
    showCard(shell, state, title, retry)
    if (!this.isInPage && title === '' && isFinal(state)) setErrorTitle(state)
    this.#setWaiting(true)
    if (state.kind !== 'message') return
    this.card = `${state.heading}. ${state.detail}`
    this.onCard(this.card)
  }

  #setWaiting(isWaiting: boolean): void {
    this.#isWaiting = isWaiting
    this.#shell?.source.onChange.dispatchEvent(new Event('change'))
  }

  /**
   * Returns the token of the page address, or else the one that the viewer got for the password.
   */
  #currentToken(): string | undefined {
    return this.token ?? this.#accessToken
  }

  #keepAccess(access: AccessToken, signal: AbortSignal): void {
    this.#accessToken = access.token
    const onRenewed = (token: string) => {
      this.#accessToken = token
    }
    void keepAccess(this.videoId, access, { onRenewed, onLost: () => this.#reopen() }, signal)
  }

  #play(shell: PlayerShell, record: VideoRecord, shouldAutoplay: boolean, signal: AbortSignal, isReplay = false): void {
    this.#setWaiting(false)
    // The controls and the views of this video end before another video is played after it.
    const end = new AbortController()
    const ownSignal = AbortSignal.any([signal, end.signal])
    const playing = playVideo(
      {
        shell,
        record,
        videoId: this.videoId,
        token: () => this.#currentToken(),
        shouldAutoplay,
        showsSlides: this.presentation,
        captionPreference: this.#captionPreference,
        ...{ part: this.playedPart, resumeSeconds: this.#resumeSeconds, isReplay, isInPage: this.isInPage },
        onUnplayable: () => this.open(this.videoId, this.autoplay),
        onMessage: (state, retry) => this.#showCard(shell, state, record.title, retry),
      },
      ownSignal,
    )
    shell.video.addEventListener('ended', () => void this.#finish(shell, record, signal), { signal: ownSignal })
    this.#endPlayback = () => end.abort()
    this.#setStoryboard = playing.setStoryboard
    // The video may be played again without another request for it.
    this.#setStoryboard(record.storyboard)
    this.#showLook()
  }

  #showLook(): void {
    if (!this.#shell || !this.#record || !this.#look) return
    const record = withLook(this.#record, this.#look)
    this.#shell.frame.dataset['skin'] = readSkin(record.skin) ?? 'akita'
    applyTheme(this.#shell, record, (media) => withToken(media, this.#currentToken(), location.href), this.#stop.signal)
  }
}

/** Returns the URL or the origin of the page that embeds this page. */
function readEmbedder(): string {
  return document.referrer || (location.ancestorOrigins?.[0] ?? '')
}

type CardState = Exclude<PageState, { kind: 'playable' }>

/** Returns whether another request cannot change the state. */
function isFinal(state: PageState): boolean {
  return state.kind === 'message' && !state.canRetry
}

/**
 * Returns whether playback starts automatically because of the settings profile, or because the
 * video is protected by a password.
 */
function hasAutoplaySetting({ settings }: VideoRecord): boolean {
  return settings.autoplay || settings.passwordProtected
}

/** Shows a card, with the title of the video if the title is known. */
function showCard(shell: PlayerShell, state: CardState, title: string, retry?: () => void): void {
  if (state.kind === 'encoding') {
    shell.showNotice(title || text('video'), state.text, { icon: 'encoding', progress: state.record.progress })
    return
  }
  const extras = { icon: state.icon, retry }
  if (title !== '') {
    shell.showNotice(title, `${state.heading}. ${state.detail}`, extras)
    return
  }
  shell.showNotice(state.heading, state.detail, extras)
}

function setErrorTitle(state: CardState): void {
  document.title = text(state.kind === 'message' && state.icon === 'locked' ? 'titleProtected' : 'titleNotAvailable')
}
