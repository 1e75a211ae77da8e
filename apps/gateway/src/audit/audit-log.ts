import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { AuditEntry, AuditOutcome, AuditServiceService } from '@vitascope/proto/auth/v1/audit'
import type { Logger } from '@vitascope/telemetry'
import { createEntryIds } from './entry-id.ts'

/** A write as it is about to happen. */
export type Write = Omit<AuditEntry, 'entryId'>

/** How a write ended. */
export interface Ending {
  /** The HTTP status. */
  status: number
  /** The id of what was made; empty for none. */
  madeId: string
}

/**
 * Tells auth of every write before it happens: no entry, no write. What arrives while a call to auth is under way goes along with the next one,
 * so a busy gateway pays one call and one commit for many writes. Endings go along too, or by themselves a moment later: they hold up
 * nobody, and those of a gateway that dies are missing, which says that the end is not known.
 */
export interface AuditLog {
  /** Answers when the entry is durable, with what takes the ending; refuses as unavailable when auth does not answer. */
  begin(write: Write): Promise<(ending: Ending) => void>
  /** Sends the endings that wait, for a moment. */
  stop(): Promise<void>
}

const MOST_A_CALL = 500
/** A caller waits no longer for an entry. */
const CALL_MS = 2_000
const AGAIN_MS = 50
/** Endings wait so long for entries to go along with, and so long after a call that failed. */
const ENDINGS_MS = 100
const RETRY_MS = 1_000
/** More than these wait for an auth that is away only in a long absence; then nothing is written that has an ending either. */
const MOST_ENDINGS = 20_000

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
    const batch = waiting.splice(0, MOST_A_CALL)
    const outcomes = endings.splice(0, MOST_A_CALL)
    try {
      await append({ entries: batch.map(({ entry }) => entry), outcomes })
      for (const { resolve } of batch) resolve()
    } catch (error) {
      keep(outcomes)
      for (const { reject } of batch) reject(error)
      throw error
    }
  }

  /** Repeating it changes nothing, so one that met an auth on its way out is sent again. */
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
    const lost = endings.splice(0, Math.max(0, endings.length - MOST_ENDINGS)).length
    if (lost > 0) log.warn({ lost }, 'endings of writes were not written to the audit log: they stay unknown')
  }

  /** One call at a time; more of them would only make the batches smaller. */
  async function run(): Promise<void> {
    if (running) return
    running = true
    clearTimeout(timer)
    timer = undefined
    let wait = ENDINGS_MS
    // Those of the same turn of the loop go together.
    await new Promise(setImmediate)
    try {
      while (waiting.length > 0 || endings.length >= MOST_A_CALL) await send()
    } catch (error) {
      wait = RETRY_MS
      log.warn({ why: error instanceof Error ? error.message : String(error) }, 'the audit log cannot be written')
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
    begin(write) {
      const entry = { entryId: nextId(), ...write }
      return new Promise((resolve, reject) => {
        const end = ({ status, madeId }: Ending) => {
          keep([{ entryId: entry.entryId, status, madeId }])
          if (!running) sendLater(ENDINGS_MS)
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
