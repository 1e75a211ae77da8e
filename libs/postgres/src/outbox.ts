import { setTimeout as delay } from 'node:timers/promises'
import { isDomainError } from '@vitascope/errors'
import { type Logger, type SpanDescription, tracedFrom } from '@vitascope/telemetry'
import type { Db, Transaction } from './db.ts'

/**
 * A message is a call to another service. Messages of one key are sent in order, each at least
 * once.
 */
export interface OutboxMessage {
  topic: string
  /** Ordering key, such as `media:12`. */
  key: string
  /** A JSON value. */
  payload: unknown
  /** Trace that the message belongs to. Default: the trace of the transaction. */
  traceparent?: string | undefined
}

/**
 * Functions that send the messages, by topic. An outbox sends the messages of its topics only, so a
 * slow receiver can have an outbox of its own. If a function throws, the message is sent again, so
 * it must be idempotent.
 */
export type OutboxHandlers = Readonly<Record<string, (payload: never, signal: AbortSignal) => Promise<void>>>

export interface Outbox {
  /** Adds a message in the transaction of its cause. */
  enqueue(tx: Transaction, message: OutboxMessage): Promise<void>
  /** Starts sending. */
  start(): void
  /** Aborts the signal of the handlers that run, and resolves when they have ended. */
  stop(): Promise<void>
}

interface Row {
  outbox_id: string
  topic: string
  payload: never
  faults: number
  attempts: number
  /** The trace of the transaction that added the message. */
  traceparent: string | null
}

/**
 * Interval in ms in which one of the idle senders polls for rows of other replicas and rows that become due.
 */
const POLL_MS = 500
/** Default number of messages that are sent at the same time. Each uses a connection. */
const DEFAULT_CONCURRENCY = 4
/** While the receiver is unavailable, this number of attempts is logged at debug level only. */
const SILENT_ATTEMPTS = 4
const MAX_BACKOFF_SECONDS = 15
/**
 * A message is given up if its receiver rejects it and this number of faults has been counted.
 * Faults are rejections and other errors, but not `unavailable`, `conflict` and `exhausted`.
 */
const MAX_REJECTIONS = 8

export interface OutboxOptions {
  db: Db
  handlers: OutboxHandlers
  log: Logger
  /**
   * A message is given up if its handler throws an error that is not a `DomainError` and this
   * number of faults (see MAX_REJECTIONS) has been counted. The pause between attempts grows to
   * about 15 s. By default, such errors are retried without limit. Use it if the sender detects in
   * another way that a message was not delivered.
   */
  maxErrors?: number
  /** Number of messages that are sent at the same time; 4 by default. */
  concurrency?: number
}

export function createOutbox(options: OutboxOptions): Outbox {
  const { db, handlers, log, maxErrors = Number.POSITIVE_INFINITY, concurrency = DEFAULT_CONCURRENCY } = options
  const stopping = new AbortController()
  const idleSenders = new Set<() => void>()
  let senders: Promise<void>[] = []
  let wakeCount = 0
  let pollTimer: NodeJS.Timeout | undefined
  const wake = () => {
    wakeCount++
    for (const resume of idleSenders) resume()
  }
  const wakeOne = () => {
    for (const resume of idleSenders) return resume()
  }
  const schedulePoll = () => {
    if (idleSenders.size === 0 || stopping.signal.aborted) return
    pollTimer ??= setTimeout(() => {
      pollTimer = undefined
      wakeOne()
      schedulePoll()
    }, POLL_MS)
  }
  const waitForMessage = () =>
    new Promise<void>((resolve) => {
      const resume = () => {
        idleSenders.delete(resume)
        resolve()
      }
      idleSenders.add(resume)
      schedulePoll()
    })
  const runSender = async () => {
    while (!stopping.signal.aborted) {
      // Detects a message that was added while this sender polled. It would otherwise wait for the
      // next poll.
      const before = wakeCount
      try {
        if (!(await sendOne({ db, handlers, log, maxErrors }, wakeOne, stopping.signal)) && before === wakeCount) await waitForMessage()
      } catch (error) {
        log.warn({ err: error }, 'outbox: database unavailable; retrying')
        await delay(POLL_MS)
      }
    }
  }

  return {
    async enqueue(tx, { topic, key, payload, traceparent }) {
      const columns = ['topic', 'key', 'payload', ...(traceparent === undefined ? [] : ['traceparent'])]
      const values = [topic, key, JSON.stringify(payload), traceparent].slice(0, columns.length)
      await tx.query(`insert into outbox (${columns.join(', ')}) values (${values.map((_, index) => `$${index + 1}`).join(', ')})`, values)
      tx.afterCommit(wake)
    },
    start() {
      senders = Array.from({ length: concurrency }, runSender)
    },
    async stop() {
      stopping.abort()
      clearTimeout(pollTimer)
      wake()
      await Promise.all(senders)
    },
  }
}

/**
 * Sends the oldest due message that is the first of its key, while its row is locked. Returns false
 * if there is none. `onFound` is called before the message is sent: further messages may be due.
 */
function sendOne(
  { db, handlers, log, maxErrors }: Required<Omit<OutboxOptions, 'concurrency'>>,
  onFound: () => void,
  signal: AbortSignal,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const [row] = await tx.query<Row>(
      `select outbox_id, topic, payload, attempts, faults, traceparent from outbox o
       where dead_time is null and next_time <= now() and topic = any($1)
         and not exists (select 1 from outbox p where p.key = o.key and p.outbox_id < o.outbox_id and p.dead_time is null)
       order by next_time, outbox_id limit 1 for update skip locked`,
      [Object.keys(handlers)],
    )
    if (!row) return false
    onFound()
    try {
      const send = handlers[row.topic]
      if (!send) throw new Error(`no handler for topic ${row.topic}`)
      await tracedFrom(
        row.traceparent,
        () => describeSending(row),
        () => send(row.payload, signal),
      )
      await tx.query('delete from outbox where outbox_id = $1', [row.outbox_id])
    } catch (error) {
      const attempts = row.attempts + 1
      const isRejection = isDomainError(error)
      // These rejections may end without a change of the message, so they do not count as faults.
      const isUnavailable = isRejection && (error.kind === 'unavailable' || error.kind === 'conflict' || error.kind === 'exhausted')
      const faults = isUnavailable ? row.faults : row.faults + 1
      const isGivenUp = !isUnavailable && faults >= (isRejection ? MAX_REJECTIONS : maxErrors)
      // When the platform starts, a receiver may start a moment later than its sender.
      const level = isGivenUp ? 'error' : attempts <= SILENT_ATTEMPTS && isUnavailable ? 'debug' : 'warn'
      log[level]({ err: error, topic: row.topic, attempts, given_up: isGivenUp }, 'sending an outbox message failed')
      await tx.query(
        `update outbox set attempts = $2, faults = $6, last_error = $3, dead_time = case when $4 then now() end,
           next_time = now() + least($5, 0.2 * 2 ^ least($2::int, 10)) * (0.75 + random() / 2) * interval '1 second'
         where outbox_id = $1`,
        [row.outbox_id, attempts, String(error).slice(0, 500), isGivenUp, MAX_BACKOFF_SECONDS, faults],
      )
    }
    return true
  })
}

function describeSending({ topic, attempts }: Row): SpanDescription {
  return {
    name: `send ${topic}`,
    kind: 'consumer',
    attributes: {
      'messaging.system': 'vitascope',
      'messaging.operation.name': 'send',
      'messaging.destination.name': topic,
      'vitascope.attempt': attempts + 1,
    },
  }
}
