import { askVideo } from './ask-video.ts'
import { wireControls } from './controls.ts'
import { withToken } from './page-address.ts'
import { needsToken, type PageState, pageState } from './page-state.ts'
import { type Playback, play } from './playback.ts'
import { buildStage, type Stage } from './stage.ts'
import type { VideoRecord } from './video-record.ts'

/** Milliseconds between two questions while the video is encoded. */
const pollEvery = 2_000

/** `<vitascope-player>`: shows one video of this server, from its encoding on. */
export class VitascopePlayer extends HTMLElement {
  videoId = ''
  token: string | undefined
  autoplay = false
  muted = false
  #stop = new AbortController()

  connectedCallback(): void {
    this.#stop = new AbortController()
    const stage = buildStage(this.shadowRoot ?? this.attachShadow({ mode: 'open' }))
    stage.video.muted = this.muted
    void this.#follow(stage, this.#stop.signal)
  }

  disconnectedCallback(): void {
    this.#stop.abort()
  }

  /** Asks for the video until there is nothing more to learn: it plays and is complete, or will never play. */
  async #follow(stage: Stage, signal: AbortSignal): Promise<void> {
    let plays = false
    let waited = false
    while (!signal.aborted) {
      const state = pageState(await askVideo(this.videoId, signal), this.token !== undefined)
      if (signal.aborted) return
      if (state.kind === 'playable') {
        if (!plays) this.#play(stage, state.record, this.autoplay || waited, signal)
        plays = true
        stage.badge(state.encoding ? `Encoding: ${Math.floor(state.record.progress)} %` : '')
        if (!state.encoding) return
      } else if (!plays) {
        show(stage, state)
        waited ||= state.kind === 'encoding'
        if (state.kind === 'message' && !state.again) return
      }
      await pause(pollEvery, signal)
    }
  }

  #play(stage: Stage, record: VideoRecord, atOnce: boolean, signal: AbortSignal): void {
    const address = (media: string) => withToken(media, this.token, location.href)
    const { video } = stage
    let playback: Playback | undefined
    name(stage, record)
    stage.showVideo()
    if (record.poster !== '') video.poster = address(record.poster)
    if (atOnce) video.addEventListener('canplay', () => void begin(video), { once: true, signal })
    const controls = wireControls(stage.frame, video, () => playback, signal)
    const events = {
      changed: () => controls.refresh(),
      failed: (refused: boolean) => {
        playback?.end()
        show(
          stage,
          refused
            ? needsToken
            : { kind: 'message', heading: 'This video cannot be played', detail: 'Its files could not be read.', again: false },
        )
      },
    }
    void play(video, { hls: address(record.hls), mp4: address(record.mp4), captionsOnLoad: record.captionsOnLoad }, events).then(
      (started) => {
        playback = started
        if (signal.aborted) started.end()
        signal.addEventListener('abort', () => started.end())
        controls.refresh()
      },
    )
  }
}

function show(stage: Stage, state: Exclude<PageState, { kind: 'playable' }>): void {
  if (state.kind === 'message') {
    stage.notice(state.heading, state.detail)
  } else {
    name(stage, state.record)
    stage.notice(state.record.title || 'Video', state.text, state.record.progress)
  }
}

function name(stage: Stage, record: VideoRecord): void {
  stage.title(record.title)
  document.title = record.title || 'Video'
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
