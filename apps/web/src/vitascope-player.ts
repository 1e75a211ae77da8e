import { askVideo } from './ask-video.ts'
import { focusPlay, wireControls } from './controls.ts'
import { dress } from './dress.ts'
import { readOverlays } from './overlay.ts'
import { showOverlays } from './overlay-cards.ts'
import { withToken } from './page-address.ts'
import { needsPersonalLink, type PageState, pageState, type VideoAnswer } from './page-state.ts'
import { askPassword } from './password-gate.ts'
import { type Playback, play } from './playback.ts'
import { qualityRule } from './quality-rule.ts'
import { wireSeekPeek } from './seek-peek.ts'
import { type CaptionWish, trackOnLoad } from './show-on-load.ts'
import { showSlides } from './slide-panel.ts'
import { buildStage, type Stage } from './stage.ts'
import { tellView } from './telling/tell-view.ts'
import type { VideoRecord } from './video-record.ts'

/** Milliseconds between two questions while the video is encoded. */
const pollEvery = 2_000

/** `<vitascope-player>`: shows one video of this server, from its encoding on. */
export class VitascopePlayer extends HTMLElement {
  videoId = ''
  token: string | undefined
  autoplay = false
  muted = false
  /** Shows the slides of the video's presentation beside it. */
  presentation = false
  /** What is known of the video without asking for it. */
  known: VideoAnswer | undefined
  /** Asked before the player says that there is no such video; true when something else is shown in its place. */
  whenMissing: () => Promise<boolean> = async () => false
  /** Told what the player shows, at each look at the video. */
  onState: (state: PageState) => void = () => {}
  #stop = new AbortController()
  #stage: Stage | undefined
  readonly #captionWish: CaptionWish = { chosen: undefined }
  /** Two that begin at once would pull the picture from each other. */
  #begun: Promise<unknown> = Promise.resolve()
  #endPlayback = () => {}
  /** Tells the seek bar where its pictures are. */
  #peekAt: (storyboard: string) => void = () => {}

  connectedCallback(): void {
    this.#stage = buildStage(this.shadowRoot ?? this.attachShadow({ mode: 'open' }))
    this.#stage.video.muted = this.muted
    this.#stage.video.addEventListener('ended', () => this.dispatchEvent(new Event('ended')))
    this.open(this.videoId, this.autoplay)
  }

  /** Shows another video in the same place: loudness, full screen and the leave to play and the choice of captions stay. */
  open(videoId: string, autoplay: boolean): void {
    this.videoId = videoId
    this.autoplay = autoplay
    if (!this.#stage) return
    this.#stop.abort()
    this.#stop = new AbortController()
    this.#endPlayback = () => {}
    this.#stage.badge('')
    void this.#follow(this.#stage, this.#stop.signal)
  }

  disconnectedCallback(): void {
    this.#stop.abort()
  }

  /** Asks for the video until there is nothing more to learn: it plays and is complete, or will never play. */
  async #follow(stage: Stage, signal: AbortSignal): Promise<void> {
    let plays = false
    let waited = false
    while (!signal.aborted) {
      const answer = this.known ?? (await askVideo(this.videoId, signal))
      if ('status' in answer && answer.status === 404 && (await this.whenMissing())) return
      if (signal.aborted) return
      const state = pageState(answer, this.token !== undefined)
      const title = 'record' in answer ? answer.record.title : ''
      if ('record' in answer) name(stage, title)
      this.onState(state)
      if (state.kind === 'playable') {
        const opened = plays ? 'open' : await passGate(stage, this.videoId, state.record, signal)
        if (opened === undefined) return
        if (!plays) this.#play(stage, state.record, this.autoplay || waited || startsAtOnce(state.record), signal)
        // The field that had the focus is gone.
        if (opened === 'asked') focusPlay(stage.frame)
        plays = true
        this.#peekAt(withToken(state.record.storyboard, this.token, location.href))
        stage.length(state.encoding ? state.record.duration : 0)
        stage.badge(state.encoding ? `Encoding: ${Math.floor(state.record.progress)} %` : '')
        if (!state.encoding) return
      } else if (!plays || isTheEnd(state)) {
        // Of what could be watched while it was encoded, nothing is left when that fails.
        this.#endPlayback()
        show(stage, state, title)
        waited ||= state.kind === 'encoding'
        if (isTheEnd(state)) return
      }
      await pause(pollEvery, signal)
    }
  }

  #play(stage: Stage, record: VideoRecord, atOnce: boolean, signal: AbortSignal): void {
    const address = (media: string) => withToken(media, this.token, location.href)
    const { video } = stage
    let playback: Playback | undefined
    this.#endPlayback = () => playback?.end()
    stage.showVideo()
    dress(stage, record, address, signal)
    showOverlays(stage.frame, video, readOverlays(record.overlays, location.href), signal)
    if (this.presentation && record.presentationId !== '') void showSlides(stage, record.presentationId, address, signal)
    video.poster = address(record.poster)
    if (atOnce) video.addEventListener('canplay', () => void begin(video), { once: true, signal })
    this.#peekAt = wireSeekPeek(stage, signal)
    const view = tellView(
      { video, videoId: this.videoId, language: () => playback?.heard() || record.language, startsAtOnce: atOnce },
      signal,
    )
    const controls = wireControls(stage.frame, video, () => playback, signal)
    const events = {
      changed: () => controls.refresh(),
      failed: (refused: boolean) => {
        view.failed(refused ? 'refused' : 'media')
        playback?.end()
        show(
          stage,
          refused
            ? needsPersonalLink
            : { kind: 'message', heading: 'This video cannot be played', detail: 'Its files could not be read.', again: false },
          record.title,
        )
      },
    }
    const source = {
      hls: address(record.hls),
      mp4: address(record.mp4),
      captionsOnLoad: (tracks: readonly { name: string; language: string }[]) =>
        trackOnLoad(tracks, record.captionsOnLoad, record.settings.captionsOn),
      captionWish: this.#captionWish,
      quality: qualityRule(record),
    }
    const start = async () => {
      if (signal.aborted) return
      playback = await play(video, source, events)
      if (signal.aborted) playback.end()
      signal.addEventListener('abort', () => playback?.end())
      controls.refresh()
    }
    this.#begun = this.#begun.then(start).catch(() => events.failed(false))
  }
}

/** Asking again would change nothing. */
function isTheEnd(state: PageState): boolean {
  return state.kind === 'message' && !state.again
}

/** Its profile says so, or it was opened by its password. */
function startsAtOnce({ settings }: VideoRecord): boolean {
  return settings.autoplay || settings.passwordProtected
}

/** `open` at once without a password, `asked` when it was typed in; undefined when the signal aborts before. */
async function passGate(stage: Stage, videoId: string, record: VideoRecord, signal: AbortSignal): Promise<'open' | 'asked' | undefined> {
  return record.settings.passwordProtected ? askPassword(stage, videoId, record.title, signal) : 'open'
}

/** Cards name the video that they are about, where it is known. */
function show(stage: Stage, state: Exclude<PageState, { kind: 'playable' }>, title: string): void {
  if (state.kind === 'encoding') stage.notice(title || 'Video', state.text, state.record.progress)
  else if (title !== '') stage.notice(title, `${state.heading}. ${state.detail}`)
  else {
    stage.notice(state.heading, state.detail)
    if (!state.again) document.title = state === needsPersonalLink ? 'Protected' : 'Not available'
  }
}

function name(stage: Stage, title: string): void {
  stage.title(title)
  document.title = title || 'Video'
}

/** Browsers let a page that nobody has touched play without sound only. */
async function begin(video: HTMLVideoElement): Promise<void> {
  try {
    await video.play()
  } catch (error) {
    if (!(error instanceof DOMException) || error.name !== 'NotAllowedError') return
    video.muted = true
    await video.play().catch(() => {})
  }
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((wake) => {
    const timer = window.setTimeout(wake, milliseconds)
    signal.addEventListener(
      'abort',
      () => {
        clearTimeout(timer)
        wake()
      },
      { once: true },
    )
  })
}
