import { setTimeout as delay } from 'node:timers/promises'
import { DomainError } from '@vitascope/errors'
import type { Logger } from '@vitascope/telemetry'
import pg from 'pg'
import { announcedIds, KEY_CHANGED } from '../key/key-change.ts'

/**
 * Receives key changes of all replicas from PostgreSQL, on a connection of its own. Notifications
 * arrive in commit order, and none is lost while the connection is open. If the connection fails,
 * every watch ends, because changes may have been missed.
 */
export interface KeyChanges {
  /** Resolves when it listens for the first time. Later it reconnects automatically. */
  start(): Promise<void>
  /**
   * Yields an empty list when the watch is active, then ids of keys as they change. Throws
   * KEY_CHANGES_LOST if changes cannot be received.
   */
  watch(signal: AbortSignal): AsyncIterable<string[]>
  /** Ends every watch. */
  stop(): Promise<void>
}

/** Interval of the connection check. */
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
  const heard = (ids: readonly string[]) => {
    for (const watcher of watchers) {
      watcher.ids.push(...ids)
      if (watcher.ids.length > MAX_QUEUED) watcher.ended = 'lost'
      watcher.wake()
    }
    onChange()
  }
  const run = async (first: () => void) => {
    while (!stopping.signal.aborted) {
      await listen(url, heartbeatMs, stopping.signal, heard, () => {
        listening = true
        onChange()
        first()
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
      if (!listening) throw lost()
      const watcher: Watcher = { ids: [], ended: undefined, wake: () => undefined }
      const hangUp = () => watcher.wake()
      watchers.add(watcher)
      signal.addEventListener('abort', hangUp)
      try {
        yield []
        while (!signal.aborted) {
          if (watcher.ended === 'lost') throw lost()
          if (watcher.ids.length > 0) yield watcher.ids.splice(0)
          else if (watcher.ended === 'stopped') return
          else await new Promise<void>((resolve) => (watcher.wake = resolve))
        }
      } finally {
        signal.removeEventListener('abort', hangUp)
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
  heard: (ids: readonly string[]) => void,
  started: () => void,
): Promise<void> {
  const client = new pg.Client({
    connectionString: url,
    application_name: 'vitascope-auth-listen',
    connectionTimeoutMillis: 2_000,
    query_timeout: 2_000,
  })
  const fallen = new AbortController()
  client.on('error', (error) => fallen.abort(error))
  client.on('end', () => fallen.abort(new Error('the connection ended')))
  client.on('notification', ({ payload }) => heard(announcedIds(payload)))
  try {
    await client.connect()
    await client.query(`listen ${KEY_CHANGED}`)
    started()
    const over = AbortSignal.any([signal, fallen.signal])
    // A connection can fail silently, so it is checked with a query.
    while (!over.aborted) {
      await client.query('select 1')
      await delay(heartbeatMs, undefined, { signal: over }).catch(() => undefined)
    }
    if (!signal.aborted) throw fallen.signal.reason
  } finally {
    // Not awaited: on a dead connection it would never resolve.
    client.end().catch(() => undefined)
  }
}

function lost(): DomainError {
  return new DomainError(
    'unavailable',
    'KEY_CHANGES_LOST',
    'key changes cannot be followed at the moment; drop all cached keys and try again',
    {
      retryAfter: 1,
    },
  )
}
