import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { AuditEntry, AuditOutcome, AuditServiceService } from '@vitascope/proto/auth/v1/audit'
import type { Logger } from '@vitascope/telemetry'
import { createEntryIds } from './entry-id.ts'

/** A write before it is executed. */
export type Write = Omit<AuditEntry, 'entryId'>

/** The result of a write. */
export interface Outcome {
  /** The HTTP status. */
  status: number
  /** Id of the created record, or empty. */
  createdId: string
}

/**
 * Writes an entry to auth's audit log before each write. Without an entry the write is not
 * executed. Group commit: entries that arrive during a call to auth join the next one, so a busy
 * gateway needs one call and one commit for many writes. Outcomes join these calls too, or are sent
 * separately a moment later. They delay no request. The outcomes of a gateway that dies are
 * missing, which means that the result is unknown.
 */
export interface AuditLog {
  /**
   * Resolves with the function that records the outcome, once the entry is durable. Throws
   * `unavailable` if auth does not answer.
   */
  recordIntent(write: Write): Promise<(ending: Outcome) => void>
  /** Sends the pending outcomes, for a short time only. */
  stop(): Promise<void>
}

const MAX_PER_CALL = 500
/** Deadline of a call, and so the maximum delay of a write. */
const CALL_MS = 2_000
const AGAIN_MS = 50
/** How long outcomes wait for entries to join, and the pause after a failed call. */
const OUTCOMES_MS = 100
const RETRY_MS = 1_000
/**
 * More outcomes than this are pending only in a long outage of auth, in which no writes are
 * executed either.
 */
const MAX_OUTCOMES = 20_000

interface Waiting {
  entry: AuditEntry
  resolve: () => void
  reject: (error: unknown) => void
}

export function createAuditLog({
  audit,
  log,
}: {
  audit: Pick<Client<typeof AuditServiceService>, 'appendEntries'>
  log: Logger
}): AuditLog {
  const nextId = createEntryIds()
  const waiting: Waiting[] = []
  const endings: AuditOutcome[] = []
  let running = false
  let timer: NodeJS.Timeout | undefined

  async function send(): Promise<void> {
    const batch = waiting.splice(0, MAX_PER_CALL)
    const outcomes = endings.splice(0, MAX_PER_CALL)
    try {
      await append({ entries: batch.map(({ entry }) => entry), outcomes })
      for (const { resolve } of batch) resolve()
    } catch (error) {
      keep(outcomes)
      for (const { reject } of batch) reject(error)
      throw error
    }
  }

  /**
   * Sends entries and outcomes, and retries once if auth is shutting down. Repeating the call has
   * no effect.
   */
  async function append(request: { entries: AuditEntry[]; outcomes: AuditOutcome[] }): Promise<void> {
    const once = () => audit.appendEntries(request, { ...serviceCall('gateway', ''), deadline: new Date(Date.now() + CALL_MS) })
    try {
      await once()
    } catch (error) {
      if (!isDomainError(error) || error.reason !== 'SERVICE_UNAVAILABLE') throw error
      await delay(AGAIN_MS)
      await once()
    }
  }

  function keep(outcomes: readonly AuditOutcome[]): void {
    endings.unshift(...outcomes)
    const lost = endings.splice(0, Math.max(0, endings.length - MAX_OUTCOMES)).length
    if (lost > 0) log.warn({ lost }, 'outcomes of audited writes were lost')
  }

  /** Runs one call at a time. More calls would only make the batches smaller. */
  async function run(): Promise<void> {
    if (running) return
    running = true
    clearTimeout(timer)
    timer = undefined
    let wait = OUTCOMES_MS
    // Entries of the same event-loop turn join one call.
    await new Promise(setImmediate)
    try {
      while (waiting.length > 0 || endings.length >= MAX_PER_CALL) await send()
    } catch (error) {
      wait = RETRY_MS
      log.warn({ err: error }, 'writing the audit log failed')
    }
    running = false
    if (waiting.length > 0) void run()
    else if (endings.length > 0) sendLater(wait)
  }

  function sendLater(ms: number): void {
    timer ??= setTimeout(() => {
      timer = undefined
      if (!running) void flush().catch(() => sendLater(RETRY_MS))
    }, ms).unref()
  }

  async function flush(): Promise<void> {
    while (endings.length > 0) await send()
  }

  return {
    recordIntent(write) {
      const entry = { entryId: nextId(), ...write }
      return new Promise((resolve, reject) => {
        const end = ({ status, createdId }: Outcome) => {
          keep([{ entryId: entry.entryId, status, createdId }])
          if (!running) sendLater(OUTCOMES_MS)
        }
        waiting.push({ entry, resolve: () => resolve(end), reject })
        void run()
      })
    },
    async stop() {
      clearTimeout(timer)
      await Promise.race([flush().catch(() => undefined), delay(CALL_MS, undefined, { ref: false })])
    },
  }
}
