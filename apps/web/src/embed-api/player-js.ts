import { asObject } from '../video/json-values.ts'
import type { ControlEvent, PlayerControl } from './player-control.ts'

/** Messages of the library player.js, https://github.com/embedly/player.js. */
const CONTEXT = 'player.js'
const VERSION = '0.0.11'
const EVENTS = ['ready', 'play', 'pause', 'ended', 'timeupdate', 'progress', 'error'] as const
const SETTERS = ['play', 'pause', 'mute', 'unmute', 'setVolume', 'setCurrentTime', 'setLoop'] as const
const GETTERS = ['getPaused', 'getMuted', 'getVolume', 'getDuration', 'getCurrentTime', 'getLoop'] as const
/** Codes of `error` events of the library. */
const [REFUSED, INVALID_METHOD] = [1, 2]
const METHODS: readonly string[] = [...SETTERS, ...GETTERS, 'addEventListener', 'removeEventListener']

/** Implements the protocol of player.js, in which messages are JSON texts. */
export function createPlayerJs(control: PlayerControl, post: (message: string) => void) {
  /** Listener ids by event. */
  const listeners = new Map<string, Set<string>>()
  const send = (event: string, value: unknown, listener?: string) => post(createMessage(event, value, listener))
  const emit = (event: string, value: unknown) => {
    for (const listener of listeners.get(event) ?? []) send(event, value, listener)
  }
  const refuse = (msg: string) => emit('error', { code: REFUSED, msg })
  const getters: Record<(typeof GETTERS)[number], () => unknown> = {
    getPaused: () => control.readState().paused,
    getMuted: () => control.readState().muted,
    getVolume: () => Math.round(100 * control.readState().volume),
    getDuration: () => control.readState().duration,
    getCurrentTime: () => control.readState().currentTime,
    getLoop: () => control.isLooping(),
  }
  const setters: Record<(typeof SETTERS)[number], (value: unknown) => void> = {
    play: () => void control.play().catch(() => refuse('the browser does not allow playback')),
    pause: () => control.pause(),
    mute: () => control.setVolume(control.readState().volume, true),
    unmute: () => control.setVolume(control.readState().volume, false),
    setVolume: (value) => (isInRange(value, 100) ? control.setVolume(value / 100, undefined) : refuse('setVolume requires 0 to 100')),
    setCurrentTime(value) {
      const { duration } = control.readState()
      if (isInRange(value, Math.ceil(duration) || Number.MAX_SAFE_INTEGER)) control.seek(value)
      else refuse('setCurrentTime requires 0 to the duration')
    },
    setLoop: (value) => control.setLoop(value === true),
  }
  return {
    /** Returns whether the message is one of player.js. */
    handle(data: unknown): boolean {
      const message = typeof data === 'string' ? parseJson(data) : undefined
      if (message?.['context'] !== CONTEXT) return false
      const { method, value } = message
      const listener = typeof message['listener'] === 'string' ? message['listener'] : undefined
      const getter = GETTERS.find((name) => name === method)
      const setter = SETTERS.find((name) => name === method)
      if (getter) send(getter, getters[getter](), listener)
      else if (setter) {
        if (control.readStatus() === 'playable') setters[setter](value)
        else refuse('no video can be played at the moment')
      } else if (typeof method === 'string' && !METHODS.includes(method)) emit('error', { code: INVALID_METHOD, msg: 'invalid method' })
      else if (method === 'addEventListener' && typeof value === 'string') {
        listeners.set(value, (listeners.get(value) ?? new Set()).add(listener ?? ''))
        if (value === 'ready' && control.readStatus() !== 'loading') post(createReadyMessage(listener))
      } else if (method === 'removeEventListener' && typeof value === 'string') listeners.get(value)?.delete(listener ?? '')
      return true
    },
    onEvent(event: ControlEvent) {
      if (event === 'ready') return
      const { currentTime, duration } = control.readState()
      if (event === 'timeupdate') emit(event, { seconds: currentTime, duration })
      else emit(event, event === 'progress' ? { percent: control.readLoadedPart() } : undefined)
    },
    /** Reports a message that the viewer sees instead of the video. */
    onMessage: refuse,
  }
}

/**
 * Message that the library waits for before it sends one. It has no data of the video. The library
 * compares `src` with the complete `src` of its frame.
 */
export function createReadyMessage(listener?: string): string {
  return createMessage('ready', { src: location.href, events: EVENTS, methods: METHODS }, listener)
}

function isInRange(value: unknown, max: number): value is number {
  return typeof value === 'number' && value >= 0 && value <= max
}

function createMessage(event: string, value: unknown, listener: string | undefined): string {
  return JSON.stringify({ context: CONTEXT, version: VERSION, event, ...(value !== undefined && { value }), ...(listener && { listener }) })
}

function parseJson(text: string): Record<string, unknown> | undefined {
  try {
    return asObject(JSON.parse(text))
  } catch {
    return undefined
  }
}
