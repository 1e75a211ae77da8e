import type { AvailableMessage, EventMessage, PlayerEventName, RefusalReason, ResultMessage } from '@vitascope/player/protocol'
import { type EmbedApiSettings, isAllowedOrigin } from '../video/embed-api-settings.ts'
import { type Command, type ParsedMessage, parseMessage } from './parse-command.ts'
import { type PlayerControl, RejectedCommand } from './player-control.ts'
import { createPlayerJs, createReadyMessage } from './player-js.ts'

/** Milliseconds between two `timeupdate` events. */
const TIMEUPDATE_MS = 250
/**
 * Milliseconds that the command `play` waits for a rejection by the browser. Afterwards it counts
 * as executed.
 */
const PLAY_TIMEOUT_MS = 90

export interface ServedPlayer {
  control: PlayerControl
  /** Resolves when the record of the first video is known. */
  whenFirstState: () => Promise<void>
  /** Returns the settings of the current video. */
  readSettings: () => EmbedApiSettings
  /** Returns the message that the viewer sees instead of the video, or an empty text. */
  readMessage: () => string
  /** Calls the listener when the viewer sees a message instead of the video. */
  onMessage: (listener: (message: string) => void) => void
}

/** Executes the commands of the page that embeds the player, and sends it the events. */
export function serveEmbedApi(player: ServedPlayer, parent: Window, signal: AbortSignal): void {
  const { control, whenFirstState, readSettings, readMessage, onMessage } = player
  /**
   * Origin of the page, as soon as it has sent an allowed message. Events are sent to no other
   * page.
   */
  let origin: string | undefined
  let lastTimeMs = Number.NEGATIVE_INFINITY
  // Origins such as that of a `data:` URL are `null`, which is not a target.
  const post = (message: ResultMessage | EventMessage | string, to: string) => parent.postMessage(message, to === 'null' ? '*' : to)
  const isAllowed = (sender: string) => isAllowedOrigin(sender, location.origin, readSettings())
  // The settings differ between the videos of a player, so the page may be allowed for some of them
  // only.
  const readState = (to: string) => (isAllowed(to) ? { state: control.readState() } : {})
  const sendEvent = (event: PlayerEventName, extra: Partial<EventMessage> = {}) => {
    if (origin === undefined) return
    if (isAllowed(origin)) post({ vitascope: 1, type: 'event', event, state: control.readState(), ...extra }, origin)
    else if (event === 'ready') refuse('origin', origin)
  }
  const refuse = (reason: RefusalReason, to: string, id?: number) => {
    post({ vitascope: 1, type: 'event', event: 'refused', reason }, to)
    if (id !== undefined) post({ vitascope: 1, type: 'result', id, ok: false, error: reason, ...readState(to) }, to)
  }
  const playerJs = createPlayerJs(control, (message) => origin !== undefined && isAllowed(origin) && post(message, origin))
  const run = async (command: Command, to: string) => {
    try {
      await execute(control, command)
    } catch (error) {
      refuse(error instanceof RejectedCommand ? error.reason : 'failed', to, command.id)
      if (!(error instanceof RejectedCommand)) throw error
      return
    }
    post({ vitascope: 1, type: 'result', id: command.id, ok: true, ...readState(to) }, to)
  }
  const sendReady = () => {
    sendEvent('ready')
    const message = readMessage()
    if (message !== '') sendEvent('error', { message })
  }
  const onWindowMessage = async ({ source, origin: sender, data }: MessageEvent<unknown>) => {
    if (source !== parent) return
    const parsed = parseMessage(data)
    const isPlayerJs = parsed.kind === 'other' && typeof data === 'string' && data.includes('player.js')
    if (parsed.kind === 'other' && !isPlayerJs) return
    await whenFirstState()
    if (!isAllowed(sender)) return refuse('origin', sender, readId(parsed))
    const isFirst = origin === undefined
    origin = sender
    if (isPlayerJs) playerJs.handle(data)
    else if ((parsed.kind === 'hello' || isFirst) && control.readStatus() !== 'loading') sendReady()
    if (parsed.kind === 'refused') refuse(parsed.reason, sender, parsed.id)
    if (parsed.kind === 'command') await run(parsed.command, sender)
  }
  let isAnnounced = false
  /** The library player.js sends its commands after this message. */
  const announceToPlayerJs = () => {
    if (!isAnnounced) parent.postMessage(createReadyMessage(), '*')
    isAnnounced = true
  }
  window.addEventListener('message', (event) => void onWindowMessage(event), { signal })
  control.listen((event) => {
    if (event === 'timeupdate' && performance.now() - lastTimeMs < TIMEUPDATE_MS) return
    if (event === 'timeupdate') lastTimeMs = performance.now()
    if (event === 'ready') announceToPlayerJs()
    if (event !== 'progress') sendEvent(event)
    playerJs.onEvent(event)
  }, signal)
  onMessage((message) => {
    sendEvent('error', { message })
    playerJs.onMessage(message)
  })
  // These messages contain no data of the video. The page sends its first message after them.
  const available: AvailableMessage = { vitascope: 1, type: 'available' }
  parent.postMessage(available, '*')
  if (control.readStatus() !== 'loading') announceToPlayerJs()
}

function readId(parsed: ParsedMessage): number | undefined {
  if (parsed.kind === 'command') return parsed.command.id
  return parsed.kind === 'refused' ? parsed.id : undefined
}

async function execute(control: PlayerControl, command: Command): Promise<void> {
  if (command.name === 'getState') return
  if (command.name === 'load') {
    return control.load(command.videoId, { token: command.token, autoplay: command.autoplay ?? false })
  }
  if (control.readStatus() !== 'playable') throw new RejectedCommand('not_playable')
  switch (command.name) {
    case 'play':
      return play(control)
    case 'pause':
      return control.pause()
    case 'seek':
      if (isBehindEnd(command.seconds, control.readState().duration)) throw new RejectedCommand('bad_argument')
      return control.seek(command.seconds)
    case 'setRate':
      return control.setRate(command.rate)
    case 'setVolume':
      return control.setVolume(command.volume, command.muted)
    case 'setTrack':
      if (!control.setTrack(command.kind, command.track)) throw new RejectedCommand('bad_argument')
  }
}

/** Returns whether a position is after the end. A duration of 0 means that it is unknown. */
function isBehindEnd(seconds: number, duration: number): boolean {
  return duration > 0 && seconds > Math.ceil(duration)
}

/**
 * Rejects with `autoplay_blocked` if the browser does not allow playback. Browsers report this at
 * once, so a playback without a result after `PLAY_TIMEOUT_MS` is still loading.
 */
async function play(control: PlayerControl): Promise<void> {
  const wait = new Promise<'waiting'>((resolve) => setTimeout(() => resolve('waiting'), PLAY_TIMEOUT_MS))
  const result = await Promise.race([
    control.play().then(
      () => 'playing' as const,
      (error: unknown) => error,
    ),
    wait,
  ])
  if (result instanceof DOMException && result.name === 'NotAllowedError') throw new RejectedCommand('autoplay_blocked')
}
