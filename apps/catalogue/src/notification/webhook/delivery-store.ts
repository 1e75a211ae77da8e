import { notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, jsonCodec, withIdempotency } from '@vitascope/postgres'
import { isId } from '@vitascope/request'
import { type Delivery, deliveryWaiting, webhookDisabled } from './webhook.ts'
import { addOwnEvent, disableWebhook, requireWebhook, type WebhookKey } from './webhook-store.ts'

/** A position in the log, newest first. Only rows with ids below `before` are read. If it is 0, all rows are read. */
export interface LogPosition {
  before: string
  limit: number
  skip: number
}

type IdempotentCall = Pick<Call, 'idempotency' | 'signal'>

/** Methods with a key throw WEBHOOK_NOT_FOUND. `resend` and `test` also throw WEBHOOK_DISABLED and DELIVERY_WAITING. */
export interface DeliveryStore {
  list(key: WebhookKey, position: LogPosition, signal?: AbortSignal): Promise<Delivery[]>
  /** Queues the event of a delivery again and returns the id of the new delivery. Throws DELIVERY_NOT_FOUND. */
  resend(key: WebhookKey, deliveryId: string, call: IdempotentCall): Promise<string>
  /** Queues an event of type `webhook.test` and returns the id of its delivery. */
  test(key: WebhookKey, call: IdempotentCall): Promise<string>
  /** Trims each log to its newest entries. Disables webhooks with too many waiting deliveries. */
  trim(signal?: AbortSignal): Promise<void>
}

const MAX_LOG_ENTRIES = 10_000
/** A webhook with more waiting deliveries is disabled. A busy organisation has about this number of events a day. */
const MAX_WAITING = 100_000
const DELIVERIES_PER_STATEMENT = 2_000
/** Number of webhooks per statement. The statement then reads at most a million index entries. */
const LOGS_PER_STATEMENT = 100

export function createDeliveryStore(
  db: Db,
  { maxLogEntries = MAX_LOG_ENTRIES, maxWaiting = MAX_WAITING }: { maxLogEntries?: number; maxWaiting?: number } = {},
): DeliveryStore {
  return {
    async list(key, { before, limit, skip }, signal) {
      signal?.throwIfAborted()
      const { webhookId } = await requireWebhook(db, key)
      const rows = await db.query<Row>(
        `select d.delivery_id, e.type, d.create_time, d.attempt, d.state, d.response_code
         from webhook_delivery d join event e using (event_id)
         where d.webhook_id = $1 and ($2::bigint = 0 or d.delivery_id < $2) order by d.delivery_id desc limit $3 offset $4`,
        [webhookId, before, limit, skip],
      )
      return rows.map(toDelivery)
    },
    resend: (key, deliveryId, call) =>
      withIdempotency(db, call, jsonCodec<string>(), async (tx) => {
        // The lock serialises concurrent calls for the webhook.
        const { webhookId, enabled } = await requireWebhook(tx, key, 'for no key update')
        const [original] = isId(deliveryId)
          ? await tx.query<{ event_id: string; object_key: string; is_waiting: boolean }>(
              `select d.event_id, d.object_key, exists (select from webhook_delivery o
                 where o.webhook_id = d.webhook_id and o.object_key = d.object_key and o.event_id = d.event_id and o.state = 'waiting') as is_waiting
               from webhook_delivery d where d.delivery_id = $1 and d.webhook_id = $2 and d.state <> 'note'`,
              [deliveryId, webhookId],
            )
          : []
        if (!original) throw notFound('delivery', deliveryId)
        if (!enabled) throw webhookDisabled()
        if (original.is_waiting) throw deliveryWaiting()
        const [row] = await tx.query<{ delivery_id: string }>(
          'insert into webhook_delivery (webhook_id, event_id, object_key) values ($1, $2, $3) returning delivery_id',
          [webhookId, original.event_id, original.object_key],
        )
        if (!row) throw new Error('the insert of a delivery returned no row')
        return row.delivery_id
      }),
    test: (key, call) =>
      withIdempotency(db, call, jsonCodec<string>(), async (tx) => {
        const webhook = await requireWebhook(tx, key, 'for no key update')
        if (!webhook.enabled) throw webhookDisabled()
        const waiting = await tx.query(
          `select 1 from webhook_delivery where webhook_id = $1 and object_key = 'webhook:' || $1::text and state = 'waiting' limit 1`,
          [webhook.webhookId],
        )
        if (waiting.length > 0) throw deliveryWaiting()
        return addOwnEvent(tx, webhook, 'webhook.test', 'waiting')
      }),
    async trim(signal) {
      for (let after: string | undefined = '0'; after !== undefined; ) {
        signal?.throwIfAborted()
        const logs: WebhookLog[] = await findLogs(after)
        for (const { webhookId, newestExcessId } of logs) {
          if (newestExcessId === undefined) continue
          if (await hasTooManyWaiting(webhookId, signal)) {
            const reason = `disabled: more than ${maxWaiting} deliveries wait`
            await db.transaction((tx) => disableWebhook(tx, webhookId, reason), signal)
          }
          await removeUpTo(webhookId, newestExcessId, signal)
        }
        after = logs.at(-1)?.webhookId
      }
    },
  }

  /**
   * Returns the next webhooks. For a log that exceeds the limit, it also returns the id of the newest
   * entry to delete.
   */
  async function findLogs(after: string): Promise<WebhookLog[]> {
    const rows = await db.query<{ webhook_id: string; delivery_id: string | null }>(
      `select w.webhook_id, (select d.delivery_id from webhook_delivery d where d.webhook_id = w.webhook_id
           order by d.delivery_id desc offset $1 limit 1)
       from webhook w where w.webhook_id > $2 order by w.webhook_id limit $3`,
      [maxLogEntries, after, LOGS_PER_STATEMENT],
    )
    return rows.map((row) => ({ webhookId: row.webhook_id, newestExcessId: row.delivery_id ?? undefined }))
  }

  async function hasTooManyWaiting(webhookId: string, signal?: AbortSignal): Promise<boolean> {
    signal?.throwIfAborted()
    const excess = await db.query(`select 1 from webhook_delivery where webhook_id = $1 and state = 'waiting' offset $2 limit 1`, [
      webhookId,
      maxWaiting,
    ])
    return excess.length > 0
  }

  /** Deletes log entries up to an id. Waiting deliveries are not deleted, because they are still retried. */
  async function removeUpTo(webhookId: string, newestId: string, signal?: AbortSignal): Promise<void> {
    for (;;) {
      signal?.throwIfAborted()
      const removed = await db.query(
        `delete from webhook_delivery where delivery_id in
           (select delivery_id from webhook_delivery where webhook_id = $1 and delivery_id <= $2 and state <> 'waiting' order by delivery_id limit $3)
         returning 1`,
        [webhookId, newestId, DELIVERIES_PER_STATEMENT],
      )
      if (removed.length < DELIVERIES_PER_STATEMENT) return
    }
  }
}

interface WebhookLog {
  webhookId: string
  newestExcessId: string | undefined
}

interface Row {
  delivery_id: string
  type: string
  create_time: Date
  attempt: number
  state: Delivery['state']
  response_code: number | null
}

function toDelivery(row: Row): Delivery {
  return {
    deliveryId: row.delivery_id,
    event: row.type,
    createTime: row.create_time,
    attempt: row.attempt,
    state: row.state,
    responseCode: row.response_code ?? undefined,
  }
}
