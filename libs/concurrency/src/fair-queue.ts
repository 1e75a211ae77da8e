/** Runs tasks of many keys with bounded concurrency, so that one key cannot occupy the complete queue. */
export interface FairQueue {
  /**
   * Runs the task as soon as the bounds allow it and returns its result. Throws `rejection()` at once if the queue is
   * full. Throws the reason of the signal if it aborts before the task starts. A running task must observe the signal
   * itself.
   */
  run<T>(key: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T>
}

/** Each bound is unlimited by default. */
export interface FairQueueOptions {
  /** Tasks that run at the same time. */
  concurrency?: number
  /** Tasks of one key that run at the same time. */
  concurrencyPerKey?: number
  /** Tasks that wait. */
  maxQueued?: number
  /** Tasks of one key that wait. */
  maxQueuedPerKey?: number
  /** Creates the error for a task that can neither run nor wait. */
  rejection: () => Error
}

/** The tasks of one key. It exists while a task of the key runs or waits. */
interface KeyState {
  running: number
  /** Starts the waiting tasks, oldest first. */
  queued: Set<() => void>
  /** Sequence number of the last start, 0 before the first one. */
  lastStart: number
}

/**
 * Creates a queue. Tasks of one key start in the order of their arrival. The next start goes to the key with the
 * fewest running tasks, and among these to the one whose last start is the longest ago.
 */
export function createFairQueue(options: FairQueueOptions): FairQueue {
  const { concurrency = Infinity, concurrencyPerKey = Infinity, maxQueued = Infinity, maxQueuedPerKey = Infinity, rejection } = options
  const keys = new Map<string, KeyState>()
  let running = 0
  let queued = 0
  let starts = 0

  const start = (state: KeyState) => {
    state.running++
    state.lastStart = ++starts
    running++
  }

  const startNext = () => {
    while (running < concurrency) {
      const state = nextKey(keys.values(), concurrencyPerKey)
      const [resume] = state?.queued ?? []
      if (!state || !resume) return
      state.queued.delete(resume)
      queued--
      start(state)
      resume()
    }
  }

  const waitForSlot = (key: string, state: KeyState, signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      const resume = () => {
        signal?.removeEventListener('abort', leaveQueue)
        resolve()
      }
      const leaveQueue = () => {
        state.queued.delete(resume)
        queued--
        forgetIdle(key, state)
        reject(signal?.reason)
      }
      state.queued.add(resume)
      queued++
      signal?.addEventListener('abort', leaveQueue, { once: true })
    })

  const forgetIdle = (key: string, state: KeyState) => {
    if (state.running === 0 && state.queued.size === 0) keys.delete(key)
  }

  return {
    async run(key, task, signal) {
      signal?.throwIfAborted()
      const state = keys.get(key) ?? { running: 0, queued: new Set(), lastStart: 0 }
      if (running < concurrency && state.running < concurrencyPerKey) {
        keys.set(key, state)
        start(state)
      } else {
        if (queued >= maxQueued || state.queued.size >= maxQueuedPerKey) throw rejection()
        keys.set(key, state)
        await waitForSlot(key, state, signal)
      }
      try {
        return await task()
      } finally {
        state.running--
        running--
        startNext()
        forgetIdle(key, state)
      }
    },
  }
}

/** Returns the key whose oldest waiting task starts next, if one may start. */
function nextKey(keys: Iterable<KeyState>, concurrencyPerKey: number): KeyState | undefined {
  let next: KeyState | undefined
  for (const state of keys) {
    if (state.queued.size === 0 || state.running >= concurrencyPerKey) continue
    const isBefore =
      next === undefined || state.running < next.running || (state.running === next.running && state.lastStart < next.lastStart)
    if (isBefore) next = state
  }
  return next
}
