import { setTimeout as delay } from 'node:timers/promises'
import { createBatcher } from '@vitascope/concurrency'
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
   * `unavailable` if auth does not respond.
   */
  recordIntent(write: Write): Promise<(outcome: Outcome) => void>
  /** Sends the pending outcomes, for a short time only. */
  stop(): Promise<void>
}

const MAX_PER_CALL = 500
/** Deadline of a call. A write can wait for the call before its own, and for one retry. */
const CALL_TIMEOUT_MS = 2_000
const SHUTDOWN_RETRY_MS = 50
/** Outcomes wait for this time, so that they can join a call with entries. */
const OUTCOME_DELAY_MS = 100
/** Pause after a failed call. */
const FAILURE_DELAY_MS = 1_000
/**
 * More outcomes than this are pending only in a long outage of auth, in which no writes are
 * executed either.
 */
const MAX_OUTCOMES = 20_000

export function createAuditLog({
  audit,
  log,
}: {
  audit: Pick<Client<typeof AuditServiceService>, 'appendEntries'>
  log: Logger
}): AuditLog {
  const nextId = createEntryIds()
  const pendingOutcomes: AuditOutcome[] = []
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  /** Writes one call at a time. An item without an entry makes a call that only has outcomes. */
  const batcher = createBatcher<AuditEntry | undefined>({
    maxItems: MAX_PER_CALL,
    async write(items) {
      clearTimeout(timer)
      timer = undefined
      const entries = items.filter((item) => item !== undefined)
      const outcomes = pendingOutcomes.splice(0, MAX_PER_CALL)
      if (entries.length === 0 && outcomes.length === 0) return []
      let wait = OUTCOME_DELAY_MS
      try {
        await append({ entries, outcomes })
        if (pendingOutcomes.length >= MAX_PER_CALL) wait = 0
      } catch (error) {
        wait = FAILURE_DELAY_MS
        pendingOutcomes.unshift(...outcomes)
        limitOutcomes()
        log.warn({ err: error }, 'writing the audit log failed')
        throw error
      } finally {
        if (pendingOutcomes.length > 0) sendLater(wait)
      }
      return []
    },
  })

  /**
   * Sends entries and outcomes, and retries once if auth is shutting down. Repeating the call has
   * no effect.
   */
  async function append(request: { entries: AuditEntry[]; outcomes: AuditOutcome[] }): Promise<void> {
    const send = () => audit.appendEntries(request, { ...serviceCall('gateway', ''), deadline: new Date(Date.now() + CALL_TIMEOUT_MS) })
    try {
      await send()
    } catch (error) {
      if (!isDomainError(error) || error.reason !== 'SERVICE_UNAVAILABLE') throw error
      await delay(SHUTDOWN_RETRY_MS)
      await send()
    }
  }

  /** Drops the oldest outcomes beyond the maximum. */
  function limitOutcomes(): void {
    const droppedOutcomes = pendingOutcomes.splice(0, Math.max(0, pendingOutcomes.length - MAX_OUTCOMES)).length
    if (droppedOutcomes > 0) log.warn({ dropped_outcomes: droppedOutcomes }, 'outcomes of audited writes were lost')
  }

  function sendLater(ms: number): void {
    if (stopped) return
    timer ??= setTimeout(() => void sendOutcomes(), ms).unref()
  }

  /** Sends outcomes with the next call. Returns whether it succeeded; `write` logs a failure. */
  async function sendOutcomes(): Promise<boolean> {
    return await batcher.add(undefined).then(
      () => true,
      () => false,
    )
  }

  return {
    async recordIntent(write) {
      const entry = { entryId: nextId(), ...write }
      await batcher.add(entry)
      return ({ status, createdId }) => {
        pendingOutcomes.push({ entryId: entry.entryId, status, createdId })
        limitOutcomes()
        sendLater(OUTCOME_DELAY_MS)
      }
    },
    async stop() {
      stopped = true
      clearTimeout(timer)
      const drain = async () => {
        await batcher.flush()
        let isSent = true
        while (isSent && pendingOutcomes.length > 0) isSent = await sendOutcomes()
      }
      await Promise.race([drain(), delay(CALL_TIMEOUT_MS, undefined, { ref: false })])
    },
  }
}
