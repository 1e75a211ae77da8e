import { notFound } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { type Db, type Transaction, withIdempotency } from '@vitascope/postgres'
import type { Scope } from '@vitascope/principal'
import { isId, type PagePosition } from '@vitascope/request'
import type { MasterKeys } from '@vitascope/security'
import { sealedCodec } from '../../rules/sealed-codec.ts'
import { MAX_WEBHOOKS, type Webhook, type WebhookFields, webhooksFull } from './webhook.ts'
import { createSecret, createSecretCipher } from './webhook-secret.ts'

export interface WebhookKey {
  scope: Scope
  webhookId: string
}

type IdempotentCall = Pick<Call, 'idempotency' | 'signal'>

/** Methods with a key throw WEBHOOK_NOT_FOUND. */
export interface WebhookStore {
  require(key: WebhookKey, signal?: AbortSignal): Promise<Webhook>
  list(organisationId: string, position: PagePosition, signal?: AbortSignal): Promise<Webhook[]>
  /** Stores a webhook. Only this method and `rotate` return a secret. Throws WEBHOOKS_FULL. */
  create(webhook: WebhookFields & { organisationId: string }, call: IdempotentCall): Promise<{ webhook: Webhook; secret: string }>
  /** Locks the webhook and stores the fields that `change` returns. */
  update(key: WebhookKey, change: (current: Webhook) => WebhookFields, signal?: AbortSignal): Promise<Webhook>
  remove(key: WebhookKey, signal?: AbortSignal): Promise<void>
  /** Creates and returns a new secret. Deliveries are also signed with the previous secret for 24 hours. */
  rotate(key: WebhookKey, call: IdempotentCall): Promise<string>
}

const COLUMNS = 'webhook_id, organisation_id, url, events, enabled, disabled_reason, create_time'
const FIND = `select ${COLUMNS} from webhook where webhook_id = $1 and ($2::bigint is null or organisation_id = $2)`

const DELIVERIES_PER_STATEMENT = 1_000

export function createWebhookStore(db: Db, keys: MasterKeys): WebhookStore {
  const cipher = createSecretCipher(keys)
  return {
    async require(key, signal) {
      signal?.throwIfAborted()
      return requireWebhook(db, key)
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
      const { row, secret } = await withIdempotency(db, call, sealedCodec<{ row: WebhookRow; secret: string }>(keys), async (tx) => {
        await requireBelowLimit(tx, organisationId)
        const [next] = await tx.query<{ id: string }>(`select nextval(pg_get_serial_sequence('webhook', 'webhook_id')) as id`)
        if (!next) throw new Error('a sequence returned no row')
        const secret = createSecret()
        const [row] = await tx.query<WebhookRow>(
          `insert into webhook (webhook_id, organisation_id, url, events, enabled, secret) overriding system value
           values ($1, $2, $3, $4, $5, $6) returning ${COLUMNS}`,
          [next.id, organisationId, url, events, enabled, cipher.seal(secret, next.id)],
        )
        if (!row) throw new Error('the insert of a webhook returned no row')
        return { row, secret }
      })
      return { webhook: toWebhook(row), secret }
    },
    update: (key, change, signal) =>
      db.transaction(async (tx) => {
        const before = await requireWebhook(tx, key, 'for no key update')
        const { url, events, enabled } = change(before)
        const reason = enabled ? '' : before.disabledReason
        const [row] = await tx.query<WebhookRow>(
          `update webhook set url = $2, events = $3, enabled = $4, disabled_reason = $5 where webhook_id = $1 returning ${COLUMNS}`,
          [before.webhookId, url, events, enabled, reason],
        )
        if (!row) throw new Error(`webhook ${before.webhookId} disappeared while it was locked`)
        // Deliveries that failed at the old URL are retried at the new URL immediately.
        if (enabled && (!before.enabled || url !== before.url)) await resumeLanes(tx, before.webhookId)
        if (!enabled && before.enabled) await pauseLanes(tx, before.webhookId)
        return toWebhook(row)
      }, signal),
    async remove(key, signal) {
      // First disables the webhook, so that no event is queued for it. Then deletes its log in
      // batches, so that transactions that write events do not wait for long.
      const { webhookId } = await db.transaction(async (tx) => {
        const webhook = await requireWebhook(tx, key, 'for no key update')
        await tx.query('update webhook set enabled = false where webhook_id = $1', [webhook.webhookId])
        await pauseLanes(tx, webhook.webhookId)
        return webhook
      }, signal)
      const deleteBatch = `delete from webhook_delivery where delivery_id in (
        select delivery_id from webhook_delivery where webhook_id = $1 order by delivery_id limit ${DELIVERIES_PER_STATEMENT}) returning 1`
      while ((await db.query(deleteBatch, [webhookId])).length === DELIVERIES_PER_STATEMENT) signal?.throwIfAborted()
      await db.transaction(async (tx) => {
        await requireWebhook(tx, key, 'for update')
        await tx.query('delete from webhook where webhook_id = $1', [webhookId])
      }, signal)
    },
    rotate: (key, call) =>
      withIdempotency(db, call, sealedCodec<string>(keys), async (tx) => {
        const { webhookId } = await requireWebhook(tx, key, 'for no key update')
        const secret = createSecret()
        await tx.query(
          `update webhook set old_secret = secret, old_secret_time = now() + interval '24 hours', secret = $2 where webhook_id = $1`,
          [webhookId, cipher.seal(secret, webhookId)],
        )
        return secret
      }),
  }
}

/** Disables a webhook automatically. The reason is stored in the webhook and in its log. */
export async function disableWebhook(tx: Transaction, webhookId: string, reason: string): Promise<void> {
  const [webhook] = await tx.query<{ organisation_id: string }>(
    'update webhook set enabled = false, disabled_reason = $2 where webhook_id = $1 and enabled returning organisation_id',
    [webhookId, reason],
  )
  if (!webhook) return
  await pauseLanes(tx, webhookId)
  await addOwnEvent(tx, { webhookId, organisationId: webhook.organisation_id }, 'webhook.disabled', 'note', { reason })
}

/** Returns the lane for events about a webhook itself. */
export function toLane(webhookId: string): string {
  return `webhook:${webhookId}`
}

/** Stores an event about a webhook itself with its delivery. Returns the id of the delivery. */
export async function addOwnEvent(
  tx: Transaction,
  { webhookId, organisationId }: { webhookId: string; organisationId: string },
  type: 'webhook.test' | 'webhook.disabled',
  state: 'waiting' | 'note',
  extraData: Readonly<Record<string, string>> = {},
): Promise<string> {
  const data = JSON.stringify({ webhook_id: webhookId, organisation_id: organisationId, ...extraData })
  const [event] = await tx.query<{ event_id: string }>(
    'insert into event (type, organisation_id, object_key, data) values ($1, $2, $3, $4) returning event_id',
    [type, organisationId, toLane(webhookId), data],
  )
  const [row] = await tx.query<{ delivery_id: string }>(
    'insert into webhook_delivery (webhook_id, event_id, object_key, state) values ($1, $2, $3, $4) returning delivery_id',
    [webhookId, event?.event_id, `webhook:${webhookId}`, state],
  )
  if (!row) throw new Error('the insert of a delivery returned no row')
  return row.delivery_id
}

export async function requireWebhook(
  { query }: Pick<Transaction, 'query'>,
  { scope, webhookId }: WebhookKey,
  lock: '' | 'for update' | 'for no key update' = '',
): Promise<Webhook> {
  const [row] = isId(webhookId) ? await query<WebhookRow>(`${FIND} ${lock}`, [webhookId, scope]) : []
  if (!row) throw notFound('webhook', webhookId)
  return toWebhook(row)
}

/**
 * Throws WEBHOOKS_FULL if the organisation has the maximum number of webhooks. The lock serialises
 * concurrent calls for the organisation.
 */
async function requireBelowLimit(tx: Transaction, organisationId: string): Promise<void> {
  await tx.query(`select pg_advisory_xact_lock(hashtextextended('webhooks of ' || $1::text, 0))`, [organisationId])
  const [row] = await tx.query<{ count: number }>('select count(*)::int as count from webhook where organisation_id = $1', [organisationId])
  if ((row?.count ?? 0) >= MAX_WEBHOOKS) throw webhooksFull()
}

async function pauseLanes(tx: Transaction, webhookId: string): Promise<void> {
  await tx.query(`update webhook_lane set next_time = 'infinity' where webhook_id = $1`, [webhookId])
}

/** Makes all lanes due, and restarts the 24 hours of waiting deliveries. */
async function resumeLanes(tx: Transaction, webhookId: string): Promise<void> {
  await tx.query('update webhook_lane set next_time = now() where webhook_id = $1', [webhookId])
  await tx.query(`update webhook_delivery set first_attempt_time = null where webhook_id = $1 and state = 'waiting'`, [webhookId])
}

interface WebhookRow {
  webhook_id: string
  organisation_id: string
  url: string
  events: string[]
  enabled: boolean
  disabled_reason: string
  /** A string in a stored idempotent response. */
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
