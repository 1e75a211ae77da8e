import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '@vitascope/errors'
import type { Logger } from '@vitascope/telemetry'
import pg from 'pg'
import { KEY_CHANGED, parseKeyIds } from '../key/key-change.ts'

/**
 * Receives key changes of all replicas from PostgreSQL, on a connection of its own. Notifications
 * arrive in commit order, and none is lost while the connection is open. If the connection fails,
 * every watch ends, because changes may have been missed.
 */
export interface KeyChanges {
  /** Connects. Resolves when it listens for the first time. A lost connection is opened again. */
  start(): Promise<void>
  /**
   * Yields an empty list as soon as the watch is active, then the ids of changed keys. Throws
   * KEY_CHANGES_LOST if changes cannot be received.
   */
  watch(signal: AbortSignal): AsyncIterable<string[]>
  /** Ends every watch. */
  stop(): Promise<void>
}

/** Interval of the query that checks the connection. */
const HEARTBEAT_MS = 1_000
const RETRY_MS = 250
/** A watch with more pending ids ends with KEY_CHANGES_LOST. */
const MAX_QUEUED = 10_000

interface Watcher {
  ids: string[]
  ended: 'lost' | 'stopped' | undefined
  wake: () => void
}

export function createKeyChanges(options: { url: string; log: Logger; onChange?: () => void; heartbeatMs?: number }): KeyChanges {
  const { url, log, onChange = () => undefined, heartbeatMs = HEARTBEAT_MS } = options
  const stopping = new AbortController()
  const watchers = new Set<Watcher>()
  let listening = false
  let running: Promise<void> | undefined

  const endAll = (reason: 'lost' | 'stopped') => {
    for (const watcher of watchers) {
      watcher.ended = reason
      watcher.wake()
    }
  }
  const deliverIds = (ids: readonly string[]) => {
    for (const watcher of watchers) {
      watcher.ids.push(...ids)
      if (watcher.ids.length > MAX_QUEUED) watcher.ended = 'lost'
      watcher.wake()
    }
    onChange()
  }
  const run = async (onFirstListen: () => void) => {
    while (!stopping.signal.aborted) {
      await listen(url, heartbeatMs, stopping.signal, deliverIds, () => {
        listening = true
        onChange()
        onFirstListen()
      }).catch((error: unknown) => log.warn({ err: error }, 'listening for API key changes failed'))
      listening = false
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
      if (!listening) throw changesLost()
      const watcher: Watcher = { ids: [], ended: undefined, wake: () => undefined }
      const onAbort = () => watcher.wake()
      watchers.add(watcher)
      signal.addEventListener('abort', onAbort)
      try {
        yield []
        while (!signal.aborted) {
          if (watcher.ended === 'lost') throw changesLost()
          if (watcher.ids.length > 0) yield watcher.ids.splice(0)
          else if (watcher.ended === 'stopped') return
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

/** Listens on one connection until it fails or the signal aborts. */
async function listen(
  url: string,
  heartbeatMs: number,
  signal: AbortSignal,
  onIds: (ids: readonly string[]) => void,
  onListening: () => void,
): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'vitascope-auth-listen',
    connectionTimeoutMillis: 2_000,
    query_timeout: 2_000,
  })
  const failure = new AbortController()
  client.on('error', (error) => failure.abort(error))
  client.on('end', () => failure.abort(new Error('the connection ended')))
  client.on('notification', ({ payload }) => onIds(parseKeyIds(payload)))
  try {
    await client.connect()
    await client.query(`listen ${KEY_CHANGED}`)
    onListening()
    const stopSignal = AbortSignal.any([signal, failure.signal])
    // A connection can fail silently, so it is checked with a query.
    while (!stopSignal.aborted) {
      await client.query('select 1')
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
    'KEY_CHANGES_LOST',
    'key changes cannot be followed at the moment; drop all cached keys and try again',
    {
      retryAfter: 1,
    },
  )
}
