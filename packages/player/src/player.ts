import type {
  AvailableMessage,
  CommandMessage,
  CommandName,
  Commands,
  EventMessage,
  HelloMessage,
  PlayerEventName,
  PlayerState,
  ResultMessage,
  TrackKind,
} from './protocol.ts'

export type {
  ChapterInfo,
  CommandName,
  Commands,
  EventMessage,
  PlayerEventName,
  PlayerState,
  RefusalReason,
  TrackInfo,
  TrackKind,
} from './protocol.ts'

/** A refused command. `reason` is a code of the protocol, or `timeout`. */
export class PlayerError extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(`the player refused the command: ${reason}`)
    this.name = 'PlayerError'
    this.reason = reason
  }
}

/** Controls the player in a frame. Every command returns the state after it. */
export interface Player {
  /**
   * Resolves when the player accepts commands. Rejects with `origin` if the page must not control it, and
   * with `timeout` after 20 s. After `load` it is a new promise, for the new video.
   */
  readonly ready: Promise<PlayerState>
  /** Last state that the player sent. Undefined until it is ready. */
  readonly state: PlayerState | undefined
  play(): Promise<PlayerState>
  pause(): Promise<PlayerState>
  /** Seconds from the start. */
  seek(seconds: number): Promise<PlayerState>
  /** 0.25 to 2. */
  setRate(rate: number): Promise<PlayerState>
  /** 0 to 1. */
  setVolume(volume: number, muted?: boolean): Promise<PlayerState>
  /** Null turns captions off, or selects the automatic quality. It is not allowed for audio. */
  setTrack(kind: TrackKind, track: string | null): Promise<PlayerState>
  /** Opens another video of the same platform. */
  load(videoId: string, options?: { token?: string; autoplay?: boolean }): Promise<PlayerState>
  getState(): Promise<PlayerState>
  /** Calls the listener for each event. Returns the function that removes it. */
  on(event: PlayerEventName, listener: (event: EventMessage) => void): () => void
  /** Stops listening. The frame stays in the page. */
  destroy(): void
}

const READY_TIMEOUT_MS = 20_000
const MAX_FIRST_ID = 1_000_000_000
const COMMAND_TIMEOUT_MS = 10_000

/** Connects to the player in an iframe of a platform. Of another element, it is the first iframe in it. */
export function createPlayer(target: Element): Player {
  const frame = target.tagName === 'IFRAME' ? target : (target.shadowRoot ?? target).querySelector('iframe')
  if (!isFrame(frame)) throw new TypeError('createPlayer requires an iframe, or an element that contains one')
  const { origin } = new URL(frame.src, location.href)
  const listeners = new Map<PlayerEventName, Set<(event: EventMessage) => void>>()
  const pending = new Map<number, (result: ResultMessage) => void>()
  const stop = new AbortController()
  let state: PlayerState | undefined
  // Another script may control the same frame, and both get all results.
  let lastId = Math.floor(Math.random() * MAX_FIRST_ID)
  let ready: Promise<PlayerState>
  /** The videos that were opened and are not ready yet, in their order. The first video of the frame has no known id. */
  let expected: ExpectedVideo[] = []
  const expectReady = (videoId?: string): ExpectedVideo => {
    let settle: ExpectedVideo['settle'] = () => {}
    const promise = new Promise<PlayerState>((resolve, reject) => {
      const timer = setTimeout(() => reject(new PlayerError('timeout')), READY_TIMEOUT_MS)
      settle = (result) => {
        clearTimeout(timer)
        if (result instanceof PlayerError) reject(result)
        else resolve(result)
      }
    })
    promise.catch(() => {})
    ready = promise
    const video = { videoId, promise, settle }
    expected.push(video)
    return video
  }
  const onReady = (first: PlayerState) => {
    const index = expected.findLastIndex(({ videoId }) => videoId === undefined || videoId === first.videoId)
    // Videos that were opened before this one are not shown any more.
    for (const { settle } of expected.slice(0, index + 1)) settle(first)
    expected = expected.slice(index + 1)
    // A lazy frame may load after the time-out.
    if (expected.length === 0) ready = Promise.resolve(first)
  }
  expectReady()
  const onMessage = ({ source, origin: sender, data }: MessageEvent<unknown>) => {
    if (source !== frame.contentWindow || sender !== origin || !isMessage(data)) return
    if (data.type === 'available') return hello()
    if (data.state) state = data.state
    if (data.type === 'result') {
      pending.get(data.id)?.(data)
      pending.delete(data.id)
      return
    }
    if (data.event === 'ready' && data.state) onReady(data.state)
    else if (data.reason === 'origin') for (const { settle } of expected.splice(0)) settle(new PlayerError('origin'))
    for (const listener of listeners.get(data.event) ?? []) listener(data)
  }
  window.addEventListener('message', onMessage, { signal: stop.signal })

  const post = (message: CommandMessage | HelloMessage) => frame.contentWindow?.postMessage(message, origin)
  // The player answers with `ready`. Unless the origins are equal, the page can read the document of a
  // frame only before it is loaded.
  const hello = () => post({ vitascope: 1, command: 'hello', id: ++lastId })
  if (frame.contentDocument === null || origin === location.origin) hello()

  const send = async <Name extends CommandName>(command: Name, payload: Commands[Name], current = ready): Promise<PlayerState> => {
    await current
    const id = ++lastId
    const result = await new Promise<ResultMessage>((resolve, reject) => {
      const timer = setTimeout(() => {
        pending.delete(id)
        reject(new PlayerError('timeout'))
      }, COMMAND_TIMEOUT_MS)
      pending.set(id, (answer) => {
        clearTimeout(timer)
        resolve(answer)
      })
      post({ vitascope: 1, id, command, ...payload } as unknown as CommandMessage)
    })
    if (!result.ok || !result.state) throw new PlayerError(result.error ?? 'origin')
    return result.state
  }

  /** Commands after `load` wait for the new video at once. */
  const load = async (payload: Commands['load']): Promise<PlayerState> => {
    const current = ready
    const next = expectReady(payload.videoId)
    try {
      return await send('load', payload, current)
    } catch (error) {
      // The present video stays.
      expected = expected.filter((video) => video !== next)
      next.settle(current)
      if (ready === next.promise) ready = current
      throw error
    }
  }

  return {
    get ready() {
      return ready
    },
    get state() {
      return state
    },
    play: () => send('play', {}),
    pause: () => send('pause', {}),
    seek: (seconds) => send('seek', { seconds }),
    setRate: (rate) => send('setRate', { rate }),
    setVolume: (volume, muted) => send('setVolume', muted === undefined ? { volume } : { volume, muted }),
    setTrack: (kind, track) => send('setTrack', { kind, track }),
    load: (videoId, options = {}) => load({ videoId, ...options }),
    getState: () => send('getState', {}),
    on(event, listener) {
      const set = listeners.get(event) ?? new Set()
      listeners.set(event, set)
      set.add(listener)
      return () => set.delete(listener)
    },
    destroy: () => stop.abort(),
  }
}

/** A video that was opened. */
interface ExpectedVideo {
  /** Undefined for the first video of the frame. */
  videoId: string | undefined
  /** `ready` of the player for this video. */
  promise: Promise<PlayerState>
  settle: (result: PlayerState | Promise<PlayerState> | PlayerError) => void
}

/** `instanceof` fails for frames of other documents. */
function isFrame(element: Element | null): element is HTMLIFrameElement {
  return element?.tagName === 'IFRAME'
}

function isMessage(data: unknown): data is ResultMessage | EventMessage | AvailableMessage {
  return typeof data === 'object' && data !== null && 'vitascope' in data && data.vitascope === 1 && 'type' in data
}
