import type { Db, Transaction } from '@vitascope/postgres'
import { disableWebhook, toLane } from './webhook-store.ts'

/** A delivery that this process has leased for sending. */
export interface Sending {
  webhookId: string
  organisationId: string
  objectKey: string
  fence: string
  deliveryId: string
  attempt: number
  url: string
  /** The valid secrets, newest first, encrypted as stored. */
  sealedSecrets: Buffer[]
  eventId: string
  /** The body is the same at every attempt. */
  body: string
  /** Trace of the cause of the event (W3C `traceparent`). */
  traceparent: string | undefined
}

/** Webhooks and organisations that have reached their limit of concurrent calls in this process. */
export interface BusyReceivers {
  webhookIds: readonly string[]
  organisationIds: readonly string[]
}

/**
 * Outcome of an attempt. `failed` means that a test call failed permanently. `lost` means that another
 * process has leased the lane in the meantime, so that nothing was stored.
 */
export type SendOutcome = 'delivered' | 'retry' | 'failed' | 'disabled' | 'lost'

export interface SendingStore {
  /**
   * Leases the oldest delivery of a due lane for 30 s. A lane is the queue of the deliveries of one webhook that have
   * the same object key. Returns undefined if no lane is due. Due lanes without a delivery are removed.
   */
  lease(busy: BusyReceivers, signal?: AbortSignal): Promise<Sending | undefined>
  /** Stores the result of an attempt. `status` is undefined if there was no response. */
  recordResult(sending: Sending, status: number | undefined, signal?: AbortSignal): Promise<SendOutcome>
  /** Releases a delivery whose attempt was interrupted. */
  release(sending: Sending, signal?: AbortSignal): Promise<void>
}

const LEASE = `interval '30 seconds'`
/** Starts at 2 s, doubles with each attempt up to 2 h, and varies by 25 percent. */
const BACKOFF = `least(7200, 2 ^ least($3::int, 13)) * (0.75 + random() / 2) * interval '1 second'`
const MAX_RETRY_TIME = `interval '24 hours'`
/** Maximum number of attempts of a test call, because users wait for its result. */
const MAX_TEST_ATTEMPTS = 3

export function createSendingStore(db: Db): SendingStore {
  return {
    async lease(busy, signal) {
      // A due lane without a delivery is removed or paused, so the loop ends.
      for (;;) {
        const leased = await db.transaction(async (tx) => {
          // In the index, leased lanes and lanes that wait for a retry come after `now()`. Before it, only the
          // lanes of busy webhooks and organisations are skipped.
          const [lane] = await tx.query<LaneRow>(
            `with due as (
               select webhook_id, object_key from webhook_lane
               where next_time <= now() and webhook_id <> all ($1::bigint[]) and organisation_id <> all ($2::bigint[])
               order by next_time limit 1 for update skip locked)
             update webhook_lane l set next_time = now() + ${LEASE}, fence = nextval('webhook_fence')
             from due where l.webhook_id = due.webhook_id and l.object_key = due.object_key
             returning l.webhook_id, l.object_key, l.organisation_id, l.fence`,
            [busy.webhookIds, busy.organisationIds],
          )
          return lane && { sending: await startOldestDelivery(tx, lane) }
        }, signal)
        if (!leased || leased.sending) return leased?.sending
      }
    },
    recordResult: (sending, status, signal) =>
      db.transaction(async (tx) => {
        const { webhookId, objectKey, deliveryId, attempt } = sending
        // Lock order: the webhook, then its lanes.
        await tx.query('select 1 from webhook where webhook_id = $1 for no key update', [webhookId])
        if (!(await lockLane(tx, sending))) return 'lost'
        const isTest = objectKey === toLane(webhookId)
        const isDelivered = status !== undefined && status >= 200 && status < 300
        const [row] = await tx.query<{ has_failed: boolean }>(
          `update webhook_delivery set response_code = $2,
             state = case when $3 then 'delivered' when $4 or first_attempt_time < now() - ${MAX_RETRY_TIME} then 'failed' else 'waiting' end
           where delivery_id = $1 and state = 'waiting' returning state = 'failed' as has_failed`,
          [deliveryId, status ?? null, isDelivered, isTest && attempt >= MAX_TEST_ATTEMPTS],
        )
        if (row?.has_failed) {
          await releaseLane(tx, webhookId, objectKey)
          if (isTest) return 'failed'
          await disableWebhook(tx, webhookId, 'disabled: an event could not be delivered for 24 hours')
          return 'disabled'
        }
        if (isDelivered || !row) {
          await releaseLane(tx, webhookId, objectKey)
          return 'delivered'
        }
        await tx.query(
          `update webhook_lane set next_time = ${unlessDisabled(`now() + ${BACKOFF}`)} where webhook_id = $1 and object_key = $2`,
          [webhookId, objectKey, attempt],
        )
        return 'retry'
      }, signal),
    release: (sending, signal) =>
      db.transaction(async (tx) => {
        if (!(await lockLane(tx, sending))) return
        await tx.query(`update webhook_lane set next_time = ${unlessDisabled('now()')} where webhook_id = $1 and object_key = $2`, [
          sending.webhookId,
          sending.objectKey,
        ])
      }, signal),
  }

  async function startOldestDelivery(tx: Transaction, lane: LaneRow): Promise<Sending | undefined> {
    const laneKey = [lane.webhook_id, lane.object_key]
    // This is a separate statement, so that it sees deliveries that were queued before the lane was
    // locked.
    const [row] = await tx.query<SendingRow>(
      `update webhook_delivery d set attempt = d.attempt + 1, first_attempt_time = coalesce(d.first_attempt_time, now())
       from event e, webhook w
       where d.delivery_id = (select delivery_id from webhook_delivery
           where webhook_id = $1 and object_key = $2 and state = 'waiting' order by delivery_id limit 1)
         and e.event_id = d.event_id and w.webhook_id = d.webhook_id and w.enabled
       returning w.url, w.secret, case when w.old_secret_time > now() then w.old_secret end as old_secret,
         d.delivery_id, d.attempt, d.traceparent, e.event_id, e.type, e.data::text as data, e.create_time`,
      laneKey,
    )
    if (!row) {
      // Nothing is waiting, or the webhook was disabled in the meantime.
      await releaseLane(tx, lane.webhook_id, lane.object_key, 'infinity')
      return undefined
    }
    return {
      webhookId: lane.webhook_id,
      organisationId: lane.organisation_id,
      objectKey: lane.object_key,
      fence: lane.fence,
      deliveryId: row.delivery_id,
      attempt: row.attempt,
      url: row.url,
      sealedSecrets: row.old_secret ? [row.secret, row.old_secret] : [row.secret],
      eventId: row.event_id,
      traceparent: row.traceparent ?? undefined,
      body: `{"type":${JSON.stringify(row.type)},"timestamp":"${row.create_time.toISOString()}","data":${row.data}}`,
    }
  }
}

async function lockLane(tx: Transaction, { webhookId, objectKey, fence }: Sending): Promise<boolean> {
  const rows = await tx.query('select 1 from webhook_lane where webhook_id = $1 and object_key = $2 and fence = $3 for update', [
    webhookId,
    objectKey,
    fence,
  ])
  return rows.length > 0
}

/**
 * Makes the next delivery of the lane due immediately, or deletes the lane if it is empty. With the time
 * `infinity`, it pauses a lane that is not empty. A concurrent insert into the lane waits for its lock.
 */
async function releaseLane(tx: Transaction, webhookId: string, objectKey: string, nextTime: 'now()' | 'infinity' = 'now()'): Promise<void> {
  const laneKey = [webhookId, objectKey]
  const next = await tx.query(
    `select 1 from webhook_delivery where webhook_id = $1 and object_key = $2 and state = 'waiting' limit 1`,
    laneKey,
  )
  const time = nextTime === 'now()' ? unlessDisabled('now()') : `'infinity'`
  await tx.query(
    next.length > 0
      ? `update webhook_lane set next_time = ${time} where webhook_id = $1 and object_key = $2`
      : 'delete from webhook_lane where webhook_id = $1 and object_key = $2',
    laneKey,
  )
}

/** Returns SQL for the next time of a lane. A webhook that was disabled during the call stays disabled. */
function unlessDisabled(time: string): string {
  return `case when next_time = 'infinity' then next_time else ${time} end`
}

interface LaneRow {
  webhook_id: string
  object_key: string
  organisation_id: string
  fence: string
}

interface SendingRow {
  url: string
  secret: Buffer
  old_secret: Buffer | null
  delivery_id: string
  attempt: number
  traceparent: string | null
  event_id: string
  type: string
  data: string
  create_time: Date
}
