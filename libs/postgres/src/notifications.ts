import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '@vitascope/errors'
import type { Logger } from '@vitascope/telemetry'
import pg from 'pg'

/**
 * Receives the notifications of a PostgreSQL channel from all processes, on a connection of its
 * own. They arrive in commit order, and none is lost while the connection is open. If the
 * connection fails, every watch ends, because notifications may have been missed.
 */
export interface Notifications {
  /**
   * Connects. Resolves when the connection listens for the first time, or at `stop`. A lost
   * connection is opened again.
   */
  start(): Promise<void>
  /**
   * Yields a batch without payloads as soon as the watch is active. Then it yields a batch after
   * each notification and after each heartbeat. Throws CHANGES_LOST if notifications cannot be
   * received.
   */
  watch(signal: AbortSignal): AsyncIterable<NotificationBatch>
  /** Ends every watch. */
  stop(): Promise<void>
}

export interface NotificationBatch {
  /** Payloads in commit order. */
  payloads: string[]
  /**
   * Milliseconds on the monotonic clock of this process (`performance.now()`). This batch and the
   * earlier ones of the watch contain all notifications that were committed until then.
   */
  completeUntilMs: number
}

export interface NotificationsOptions {
  url: string
  /** Name of the channel. It is inserted into SQL. */
  channel: string
  /** Name of the connection in `pg_stat_activity`. */
  applicationName: string
  log: Logger
  /** Called when a connection starts to listen, and after each notification. */
  onChange?: () => void
  /** Interval in ms of the query that checks the connection; 1,000 by default. */
  heartbeatMs?: number
}

const HEARTBEAT_MS = 1_000
const RETRY_MS = 250
/** A watch with more pending payloads ends with CHANGES_LOST. */
const MAX_QUEUED = 10_000

interface Watcher {
  payloads: string[]
  /** True if a batch is due, with or without payloads. */
  isDue: boolean
  ended: 'lost' | 'stopped' | undefined
  wake: () => void
}

export function createNotifications(options: NotificationsOptions): Notifications {
  const { log, channel, onChange = () => undefined } = options
  const stopping = new AbortController()
  const watchers = new Set<Watcher>()
  let isListening = false
  let completeUntilMs = 0
  let running: Promise<void> | undefined

  const endAll = (reason: 'lost' | 'stopped') => {
    for (const watcher of watchers) {
      // A watch that was stopped does not report lost changes.
      watcher.ended ??= reason
      watcher.wake()
    }
  }
  const deliver = (payloads: readonly string[]) => {
    for (const watcher of watchers) {
      watcher.payloads.push(...payloads)
      watcher.isDue = true
      if (watcher.payloads.length > MAX_QUEUED) watcher.ended = 'lost'
      watcher.wake()
    }
  }
  const run = async (onFirstListen: () => void) => {
    while (!stopping.signal.aborted) {
      await listen(options, stopping.signal, {
        onListening(startedMs) {
          completeUntilMs = startedMs
          isListening = true
          onChange()
          onFirstListen()
        },
        onPayload(payload) {
          deliver([payload])
          onChange()
        },
        onHeartbeat(startedMs) {
          completeUntilMs = startedMs
          deliver([])
        },
      }).catch((error: unknown) => log.warn({ err: error, channel }, 'listening for notifications failed; retrying'))
      isListening = false
      endAll('lost')
      await delay(RETRY_MS, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  return {
    start: () =>
      new Promise((resolve) => {
        running = run(resolve).finally(resolve)
      }),
    async *watch(signal) {
      if (!isListening) throw changesLost()
      const watcher: Watcher = { payloads: [], isDue: true, ended: undefined, wake: () => undefined }
      const onAbort = () => watcher.wake()
      watchers.add(watcher)
      signal.addEventListener('abort', onAbort)
      try {
        while (!signal.aborted) {
          if (watcher.ended === 'lost') throw changesLost()
          if (watcher.isDue) {
            watcher.isDue = false
            yield { payloads: watcher.payloads.splice(0), completeUntilMs }
          } else if (watcher.ended === 'stopped') return
          else await new Promise<void>((resolve) => (watcher.wake = resolve))
        }
      } finally {
        signal.removeEventListener('abort', onAbort)
        watchers.delete(watcher)
      }
    },
    async stop() {
      endAll('stopped')
      stopping.abort()
      await running
    },
  }
}

interface ListenCallbacks {
  /** Called when the connection listens. `startedMs` is the time at which `listen` was sent. */
  onListening: (startedMs: number) => void
  /**
   * Called after each query that checks the connection. `startedMs` is the time at which it was
   * sent.
   */
  onHeartbeat: (startedMs: number) => void
  onPayload: (payload: string) => void
}

/** Listens on one connection until it fails or the signal aborts. */
async function listen(
  { url, channel, applicationName, heartbeatMs = HEARTBEAT_MS }: NotificationsOptions,
  signal: AbortSignal,
  { onListening, onHeartbeat, onPayload }: ListenCallbacks,
): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: 2_000,
    query_timeout: 2_000,
  })
  const failure = new AbortController()
  client.on('error', (error) => failure.abort(error))
  client.on('end', () => failure.abort(new Error('the connection ended')))
  client.on('notification', ({ payload = '' }) => onPayload(payload))
  try {
    await client.connect()
    const listenedMs = performance.now()
    await client.query(`listen ${channel}`)
    onListening(listenedMs)
    const stopSignal = AbortSignal.any([signal, failure.signal])
    // A connection can fail silently, so it is checked with a query. PostgreSQL sends the pending
    // notifications before it reports that a query is complete.
    while (!stopSignal.aborted) {
      const startedMs = performance.now()
      await client.query('select 1')
      onHeartbeat(startedMs)
      await delay(heartbeatMs, undefined, { signal: stopSignal }).catch(() => undefined)
    }
    if (!signal.aborted) throw failure.signal.reason
  } finally {
    // This is not awaited, because it never resolves on a dead connection.
    client.end().catch(() => undefined)
  }
}

function changesLost(): DomainError {
  return new DomainError(
    'unavailable',
    'CHANGES_LOST',
    'changes cannot be followed at the moment; discard everything that was cached and try again',
    { retryAfter: 1 },
  )
}
