import type { AvailableMessage, EventMessage, PlayerEventName, RefusalReason, ResultMessage } from '@vitascope/player/protocol'
import { type EmbedApiSettings, isAllowedOrigin } from '../video/embed-api-settings.ts'
import { type Command, parseMessage } from './parse-command.ts'
import { type PlayerControl, RefusedCommand } from './player-control.ts'
import { createPlayerJs, createReadyMessage } from './player-js.ts'

/** Milliseconds between two `timeupdate` events. */
const TIMEUPDATE_MS = 250
/** Milliseconds that `play` waits for the video, before it counts as blocked by the browser. */
const PLAY_TIMEOUT_MS = 90

export interface ServedPlayer {
  control: PlayerControl
  /** Settings of the current video. They resolve when its record is known. */
  settings: () => Promise<EmbedApiSettings>
  /** Returns the message that the viewer sees instead of the video, or an empty text. */
  readMessage: () => string
  /** Calls the listener when the viewer sees a message instead of the video. */
  onMessage: (listener: (message: string) => void) => void
}

/** Executes the commands of the page that embeds the player, and sends it the events. */
export function serveEmbedApi({ control, settings, readMessage, onMessage }: ServedPlayer, parent: Window, signal: AbortSignal): void {
  /** Origin of the page, as soon as it has sent an allowed message. Events are sent to no other page. */
  let origin: string | undefined
  let lastTimeMs = Number.NEGATIVE_INFINITY
  const post = (message: ResultMessage | EventMessage | string, to: string) => parent.postMessage(message, to)
  const sendEvent = (event: PlayerEventName, extra: Partial<EventMessage> = {}) => {
    if (origin !== undefined) post({ vitascope: 1, type: 'event', event, state: control.readState(), ...extra }, origin)
  }
  const refuse = (reason: RefusalReason, to: string, id?: number) => {
    post({ vitascope: 1, type: 'event', event: 'refused', reason }, to)
    if (id !== undefined) post({ vitascope: 1, type: 'result', id, ok: false, error: reason, state: control.readState() }, to)
  }
  const playerJs = createPlayerJs(control, (message) => origin !== undefined && post(message, origin))
  const run = async (command: Command, to: string) => {
    try {
      await execute(control, command)
      post({ vitascope: 1, type: 'result', id: command.id, ok: true, state: control.readState() }, to)
    } catch (error) {
      if (!(error instanceof RefusedCommand)) throw error
      refuse(error.reason, to, command.id)
    }
  }
  const onWindowMessage = async ({ source, origin: sender, data }: MessageEvent<unknown>) => {
    if (source !== parent) return
    const parsed = parseMessage(data)
    const isPlayerJs = parsed.kind === 'other' && typeof data === 'string' && data.includes('player.js')
    if (parsed.kind === 'other' && !isPlayerJs) return
    if (!isAllowedOrigin(sender, location.origin, await settings())) return refuse('origin', sender)
    const isFirst = origin === undefined
    origin = sender
    if (isPlayerJs) playerJs.handle(data)
    else if (parsed.kind === 'hello' || isFirst) {
      sendEvent('ready')
      const message = readMessage()
      if (message !== '') sendEvent('error', { message })
    }
    if (parsed.kind === 'refused') refuse(parsed.reason, sender, parsed.id)
    if (parsed.kind === 'command') await run(parsed.command, sender)
  }
  window.addEventListener('message', (event) => void onWindowMessage(event), { signal })
  control.listen((event) => {
    if (event === 'timeupdate' && performance.now() - lastTimeMs < TIMEUPDATE_MS) return
    if (event === 'timeupdate') lastTimeMs = performance.now()
    sendEvent(event)
    playerJs.onEvent(event)
  }, signal)
  onMessage((message) => sendEvent('error', { message }))
  // These messages contain no data of the video. The page sends its first message after them.
  const available: AvailableMessage = { vitascope: 1, type: 'available' }
  parent.postMessage(available, '*')
  void settings().then(() => parent.postMessage(createReadyMessage(), '*'))
}

async function execute(control: PlayerControl, command: Command): Promise<void> {
  if (command.name === 'getState') return
  if (command.name === 'load') {
    return control.load(command.videoId, { token: command.token, autoplay: command.autoplay ?? false })
  }
  if (!control.isPlayable()) throw new RefusedCommand('not_playable')
  switch (command.name) {
    case 'play':
      return play(control)
    case 'pause':
      return control.pause()
    case 'seek':
      if (command.seconds > Math.ceil(control.readState().duration)) throw new RefusedCommand('bad_argument')
      return control.seek(command.seconds)
    case 'setRate':
      return control.setRate(command.rate)
    case 'setVolume':
      return control.setVolume(command.volume, command.muted)
    case 'setTrack':
      if (!control.setTrack(command.kind, command.track)) throw new RefusedCommand('bad_argument')
  }
}

/** Browsers report that they block sound at once. A video that only has to load is not blocked. */
async function play(control: PlayerControl): Promise<void> {
  const wait = new Promise<'waiting'>((resolve) => setTimeout(() => resolve('waiting'), PLAY_TIMEOUT_MS))
  const result = await Promise.race([
    control.play().then(
      () => 'playing' as const,
      (error: unknown) => error,
    ),
    wait,
  ])
  if (result instanceof DOMException && result.name === 'NotAllowedError') throw new RefusedCommand('autoplay_blocked')
}
