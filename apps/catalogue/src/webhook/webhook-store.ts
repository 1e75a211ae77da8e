import { notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, once, type Transaction } from '@vitascope/postgres'
import { sealedCodec } from '../answer-codec.ts'
import { parseId } from '../id/id.ts'
import type { IdPlace } from '../id-page.ts'
import type { Scope } from '../visibility.ts'
import { WEBHOOKS_MOST, type Webhook, type WebhookFields, webhooksFull } from './webhook.ts'
import { createSecretBox, newSecret } from './webhook-secret.ts'

export interface WebhookKey {
  scope: Scope
  webhookId: string
}

type Repeatable = Pick<Call, 'idempotency' | 'signal'>

/** Calls with a key refuse with WEBHOOK_NOT_FOUND. */
export interface WebhookStore {
  need(key: WebhookKey, signal?: AbortSignal): Promise<Webhook>
  list(organisationId: string, place: IdPlace, signal?: AbortSignal): Promise<Webhook[]>
  /** Refuses with WEBHOOKS_FULL. The secret is answered here, and never again. */
  create(webhook: WebhookFields & { organisationId: string }, call: Repeatable): Promise<{ webhook: Webhook; secret: string }>
  /** Locks the webhook and stores what `change` makes of it. */
  update(key: WebhookKey, change: (now: Webhook) => WebhookFields, signal?: AbortSignal): Promise<Webhook>
  remove(key: WebhookKey, signal?: AbortSignal): Promise<void>
  /** A new secret; the one before signs for another 24 hours. */
  rotate(key: WebhookKey, call: Repeatable): Promise<string>
}

const COLUMNS = 'webhook_id, organisation_id, url, events, enabled, disabled_reason, create_time'
const FIND = `select ${COLUMNS} from webhook where webhook_id = $1 and ($2::bigint is null or organisation_id = $2)`

const DELETED_AT_ONCE = 1_000

export function createWebhookStore(db: Db, masterKey: string): WebhookStore {
  const box = createSecretBox(masterKey)
  return {
    async need(key, signal) {
      signal?.throwIfAborted()
      return needWebhook(db, key)
    },
    async list(organisationId, { after, limit, skip }, signal) {
      signal?.throwIfAborted()
      const rows = await db.query<WebhookRow>(
        `select ${COLUMNS} from webhook where organisation_id = $1 and webhook_id > $2 order by webhook_id limit $3 offset $4`,
        [organisationId, after, limit, skip],
      )
      return rows.map(toWebhook)
    },
    async create({ organisationId, url, events, enabled }, call) {
      const { row, secret } = await once(db, call, sealedCodec<{ row: WebhookRow; secret: string }>(masterKey), async (tx) => {
        await needRoom(tx, organisationId)
        const [next] = await tx.query<{ id: string }>(`select nextval(pg_get_serial_sequence('webhook', 'webhook_id')) as id`)
        if (!next) throw new Error('a sequence answered no row')
        const secret = newSecret()
        const [row] = await tx.query<WebhookRow>(
          `insert into webhook (webhook_id, organisation_id, url, events, enabled, secret) overriding system value
           values ($1, $2, $3, $4, $5, $6) returning ${COLUMNS}`,
          [next.id, organisationId, url, events, enabled, box.seal(secret, next.id)],
        )
        if (!row) throw new Error('the insert of a webhook answered no row')
        return { row, secret }
      })
      return { webhook: toWebhook(row), secret }
    },
    update: (key, change, signal) =>
      db.transaction(async (tx) => {
        const before = await needWebhook(tx, key, 'for no key update')
        const { url, events, enabled } = change(before)
        const reason = enabled ? '' : before.disabledReason
        const [row] = await tx.query<WebhookRow>(
          `update webhook set url = $2, events = $3, enabled = $4, disabled_reason = $5 where webhook_id = $1 returning ${COLUMNS}`,
          [before.webhookId, url, events, enabled, reason],
        )
        if (!row) throw new Error(`webhook ${before.webhookId} went away under its lock`)
        // What failed at another address is tried at this one at once.
        if (enabled && (!before.enabled || url !== before.url)) await resumeLanes(tx, before.webhookId)
        if (!enabled && before.enabled) await stopLanes(tx, before.webhookId)
        return toWebhook(row)
      }, signal),
    async remove(key, signal) {
      // Nothing is queued for it from now on, and its log goes in parts: who writes events never waits for that.
      const { webhookId } = await db.transaction(async (tx) => {
        const webhook = await needWebhook(tx, key, 'for no key update')
        await tx.query('update webhook set enabled = false where webhook_id = $1', [webhook.webhookId])
        await stopLanes(tx, webhook.webhookId)
        return webhook
      }, signal)
      const part = `delete from webhook_delivery where delivery_id in (
        select delivery_id from webhook_delivery where webhook_id = $1 order by delivery_id limit ${DELETED_AT_ONCE}) returning 1`
      while ((await db.query(part, [webhookId])).length === DELETED_AT_ONCE) signal?.throwIfAborted()
      await db.transaction(async (tx) => {
        await needWebhook(tx, key, 'for update')
        await tx.query('delete from webhook where webhook_id = $1', [webhookId])
      }, signal)
    },
    rotate: (key, call) =>
      once(db, call, sealedCodec<string>(masterKey), async (tx) => {
        const { webhookId } = await needWebhook(tx, key, 'for no key update')
        const secret = newSecret()
        await tx.query(
          `update webhook set old_secret = secret, old_secret_time = now() + interval '24 hours', secret = $2 where webhook_id = $1`,
          [webhookId, box.seal(secret, webhookId)],
        )
        return secret
      }),
  }
}

/** Disables a webhook on the platform's own account: its record and its log say why. */
export async function disableWebhook(tx: Transaction, webhookId: string, reason: string): Promise<void> {
  const [webhook] = await tx.query<{ organisation_id: string }>(
    'update webhook set enabled = false, disabled_reason = $2 where webhook_id = $1 and enabled returning organisation_id',
    [webhookId, reason],
  )
  if (!webhook) return
  await stopLanes(tx, webhookId)
  await addOwnEvent(tx, { webhookId, organisationId: webhook.organisation_id }, 'webhook.disabled', 'note', { reason })
}

/** The lane of what is for one webhook alone. */
export function testLane(webhookId: string): string {
  return `webhook:${webhookId}`
}

/** An event that is for one webhook alone, with its delivery; answers the delivery's id. */
export async function addOwnEvent(
  tx: Transaction,
  { webhookId, organisationId }: { webhookId: string; organisationId: string },
  type: 'webhook.test' | 'webhook.disabled',
  state: 'waiting' | 'note',
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const data = JSON.stringify({ webhook_id: webhookId, organisation_id: organisationId, ...more })
  const [event] = await tx.query<{ event_id: string }>(
    'insert into event (type, organisation_id, object_key, data) values ($1, $2, $3, $4) returning event_id',
    [type, organisationId, testLane(webhookId), data],
  )
  const [row] = await tx.query<{ delivery_id: string }>(
    'insert into webhook_delivery (webhook_id, event_id, object_key, state) values ($1, $2, $3, $4) returning delivery_id',
    [webhookId, event?.event_id, `webhook:${webhookId}`, state],
  )
  if (!row) throw new Error('the insert of a delivery answered no row')
  return row.delivery_id
}

export async function needWebhook(
  { query }: Pick<Transaction, 'query'>,
  { scope, webhookId }: WebhookKey,
  lock: '' | 'for update' | 'for no key update' = '',
): Promise<Webhook> {
  const [row] = parseId(webhookId) ? await query<WebhookRow>(`${FIND} ${lock}`, [webhookId, scope]) : []
  if (!row) throw notFound('webhook', webhookId)
  return toWebhook(row)
}

/** Locks the organisation's list: of two at once, the second sees the first. */
async function needRoom(tx: Transaction, organisationId: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('webhooks of ' || $1::text, 0))`, [organisationId])
  const [row] = await tx.query<{ count: number }>('select count(*)::int as count from webhook where organisation_id = $1', [organisationId])
  if ((row?.count ?? 0) >= WEBHOOKS_MOST) throw webhooksFull()
}

async function stopLanes(tx: Transaction, webhookId: string): Promise<void> {
  await tx.query(`update webhook_lane set next_time = 'infinity' where webhook_id = $1`, [webhookId])
}

/** What waits has another 24 hours. */
async function resumeLanes(tx: Transaction, webhookId: string): Promise<void> {
  await tx.query('update webhook_lane set next_time = now() where webhook_id = $1', [webhookId])
  await tx.query(`update webhook_delivery set first_try_time = null where webhook_id = $1 and state = 'waiting'`, [webhookId])
}

interface WebhookRow {
  webhook_id: string
  organisation_id: string
  url: string
  events: string[]
  enabled: boolean
  disabled_reason: string
  /** A text in an answer that was kept. */
  create_time: Date | string
}

function toWebhook(row: WebhookRow): Webhook {
  return {
    webhookId: row.webhook_id,
    organisationId: row.organisation_id,
    url: row.url,
    events: row.events,
    enabled: row.enabled,
    disabledReason: row.disabled_reason,
    createTime: new Date(row.create_time),
  }
}
