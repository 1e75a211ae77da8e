import type { Db, Query } from '@vitascope/postgres'
import type { ObjectStorage } from '@vitascope/storage'

/** A named point at which a test can kill the process as with `kill -9`. */
export type CrashPoint =
  | 'fetch-began'
  | 'fetch-stored'
  | 'fetch-recorded'
  | 'probe-recorded'
  | 'chunk-recorded'
  | 'fault-undecided'
  | 'fault-recorded'
  | 'publish-undecided'
  | 'publish-recorded'
  | 'report-sent'

/** Called when the process reaches a crash point. */
export type CrashPointHook = (point: CrashPoint) => void

export function crashAt(configured: string | undefined): CrashPointHook {
  return (point) => {
    if (point === configured) killProcess()
  }
}

/**
 * `commit:7`: the process is killed after the seventh durable database change, before the caller
 * gets the result. All users of `count` share one counter.
 */
export function crashAtCommit(db: Db, count: CrashCounter | undefined): Db {
  if (count === undefined) return db
  return {
    ...db,
    query: async <Row>(text: string, values?: readonly unknown[]) => {
      const rows = await db.query<Row>(text, values)
      if (isWrite(text)) count()
      return rows
    },
    async transaction(change, signal) {
      let changed = false
      const result = await db.transaction((tx) => {
        changed = false
        const query: Query = (text, values) => {
          changed ||= isWrite(text)
          return tx.query(text, values)
        }
        return change({ ...tx, query })
      }, signal)
      if (changed) count()
      return result
    },
  }
}

/** `put:7`: the process is killed after the seventh stored object. */
export function crashAtPut(storage: ObjectStorage, count: CrashCounter | undefined): ObjectStorage {
  if (count === undefined) return storage
  return {
    ...storage,
    async put(name, source, options) {
      const stored = await storage.put(name, source, options)
      count()
      return stored
    },
  }
}

/** Counts one event. It kills the process at the configured event. */
export type CrashCounter = () => void

/**
 * Returns the counter of a kind of event, or undefined if no crash at such an event is configured.
 */
export function createCrashCounter(configured: string | undefined, kind: 'commit' | 'put'): CrashCounter | undefined {
  const [configuredKind, number] = (configured ?? '').split(':')
  if (configuredKind !== kind) return undefined
  let remaining = Number(number)
  return () => {
    remaining -= 1
    if (remaining === 0) killProcess()
  }
}

function isWrite(text: string): boolean {
  return /^\s*(insert|update|delete|with)\b/i.test(text)
}

function killProcess(): void {
  process.kill(process.pid, 'SIGKILL')
}
