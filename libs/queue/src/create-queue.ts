import type { Db, Query, Transaction } from '@vitascope/postgres'
import type { Lease, LeasedItem, LeaseRequest, Queue, QueueDepth, WorkItem } from './queue.ts'
import { createWaiting, type Waiting } from './waiting.ts'

interface Row {
  item_id: string
  /** A bigint, which PostgreSQL's driver returns as text. The sequence ends at 2^53 - 1. */
  fence: string
  key: string
  kind: string
  group_key: string
  payload: unknown
  holder: string
  traceparent: string | null
}

/** Time for which workers without enough resources may skip an item. After it, other weighted items wait too. */
const SKIPPED_SECONDS = 30

const LEASED_COLUMNS = 'item_id, fence, key, kind, group_key, payload, holder, traceparent'

/** Creates a queue on the table `work_item` of the service's own schema. */
export function createQueue(db: Db): Queue {
  const waiting = createWaiting()
  const returnToQueue = async (tx: Transaction, { itemId, fence }: Lease, delayMs: number, condition = '') => {
    const rows = await tx.query(
      `update work_item set state = 'waiting', holder = null, request_id = null, lease_ms = null, lease_end = null,
         due_time = now() + $3::int * interval '1 millisecond'
       where item_id = $1 and fence = $2 and state = 'leased' ${condition} returning 1`,
      [itemId, fence, delayMs],
    )
    tx.afterCommit(waiting.wake)
    return rows.length === 1
  }
  return {
    send: (tx, item) => send(tx, item, waiting),
    lease: (request, signal) => lease(db.query, request, waiting, signal),
    async extend({ itemId, fence }, tx) {
      const rows = await (tx ?? db).query(
        `update work_item set lease_end = now() + lease_ms * interval '1 millisecond'
         where item_id = $1 and fence = $2 and state = 'leased' returning 1`,
        [itemId, fence],
      )
      return rows.length === 1
    },
    async complete(tx, { itemId, fence }) {
      const rows = await tx.query(
        `update work_item set state = 'done', done_time = now(), lease_end = null
         where item_id = $1 and fence = $2 and state = 'leased' returning 1`,
        [itemId, fence],
      )
      return rows.length === 1
    },
    async isCompletedBy(tx, { itemId, fence }) {
      const rows = await tx.query(`select 1 from work_item where item_id = $1 and fence = $2 and state = 'done'`, [itemId, fence])
      return rows.length === 1
    },
    retry: returnToQueue,
    release: (tx, lease) => returnToQueue(tx, lease, 0),
    rescue: (tx, lease, delayMs) => returnToQueue(tx, lease, delayMs, 'and lease_end < now()'),
    raise: (tx, key, change) => raise(tx, key, change, waiting),
    cancel: async (tx, key) => (await tx.query('delete from work_item where key = $1 returning 1', [key])).length,
    async find(itemId) {
      const [row] = await db.query<Row>('select item_id, key, kind, payload from work_item where item_id = $1', [itemId])
      return row && { itemId: row.item_id, key: row.key, kind: row.kind, payload: row.payload }
    },
    async expired(limit) {
      const rows = await db.query<Row>(
        `select ${LEASED_COLUMNS} from work_item where state = 'leased' and lease_end < now() order by lease_end limit $1`,
        [limit],
      )
      return rows.map(toItem)
    },
    leasedByRequest: (holder, requestId) => leasedByRequest(db.query, holder, requestId),
    async findLeasedBy(holders) {
      const rows = await db.query<Row>(`select ${LEASED_COLUMNS} from work_item where state = 'leased' and holder = any($1)`, [holders])
      return rows.map(toItem)
    },
    depth: () =>
      db.query<QueueDepth>(
        `select kind, count(*) filter (where state = 'waiting')::int as waiting, count(*) filter (where state = 'leased')::int as leased,
           sum(cost)::float8 as cost
         from work_item where state in ('waiting', 'leased') group by kind order by kind`,
      ),
    async sweep(limit) {
      const rows = await db.query(
        `delete from work_item where item_id in (
           select item_id from work_item where state = 'done' and done_time < now() - interval '1 day' order by done_time limit $1)
         returning 1`,
        [limit],
      )
      return rows.length
    },
  }
}

/**
 * Adds an item and returns its id. The order is start-time fair queueing: `turn` is the sum of the costs of the items of
 * the group that were served before. A group that was idle starts at the turn of the first queued item. A group with
 * items continues after the cost of its last one.
 * So a group with a thousand items and a group with one item share by planned work. Each priority is a separate queue:
 * items of a lower priority use no turns of a higher one.
 */
async function send(
  tx: Transaction,
  { key, kind, group, priority, payload, weight = 0, cost = 1 }: WorkItem,
  waiting: Waiting,
): Promise<string> {
  const [row] = await tx.query<{ item_id: string }>(
    `insert into work_item (key, kind, group_key, priority, payload, weight, cost, traceparent, turn)
     select $1, $2, $3, $4::int, $5, $6::int, $7::bigint, ${TRACE}, greatest(
       (select turn + cost from work_item where kind = $2 and group_key = $3 and priority = $4 and state in ('waiting', 'leased')
        order by turn desc, item_id desc limit 1),
       ${FRONT})
     returning item_id`,
    [key, kind, group, priority, JSON.stringify(payload), weight, cost],
  )
  if (!row) throw new Error('an insert returned no row')
  tx.afterCommit(waiting.wake)
  return row.item_id
}

/**
 * SQL of the trace of an item. All items of a key belong to the trace of the oldest one, so that the work of a job has
 * one parent. Its parameter is $1.
 */
const TRACE = `coalesce(
  (select traceparent from work_item where key = $1 order by item_id limit 1),
  nullif(current_setting('vitascope.traceparent', true), ''))`

/** SQL of the current turn of a kind and priority. Its parameters are $2 and $4. */
const FRONT = `coalesce(
  (select min(turn) from work_item where kind = $2 and priority = $4 and state = 'waiting'),
  (select max(turn) from work_item where kind = $2 and priority = $4 and state = 'leased'),
  0)`

/**
 * Raises the priority of the items of a key. Recomputes the turns of the raised items and of the waiting items of their
 * groups, in the order in which they were sent. Returns the number of raised items.
 */
async function raise(tx: Transaction, key: string, { below, by }: { below: number; by: number }, waiting: Waiting): Promise<number> {
  const queues = await tx.query<{ kind: string; group_key: string; priority: number }>(
    `select distinct kind, group_key, priority from work_item
     where key = $1 and priority < $2 and state in ('waiting', 'leased') order by 1, 2, 3`,
    [key, below],
  )
  let raised = 0
  for (const { kind, group_key: group, priority } of queues) {
    const target = priority + by
    const [front] = await tx.query<{ turn: string }>(
      `select coalesce((select min(turn) from work_item where kind = $2 and group_key = $3 and priority = $4 and state = 'waiting'),
         ${FRONT}) + $1::bigint as turn`,
      [0, kind, group, target],
    )
    const rows = await tx.query(
      `update work_item set priority = $4, turn = $5
       where key = $1 and kind = $2 and priority = $3 and state in ('waiting', 'leased') returning 1`,
      [key, kind, priority, target, front?.turn ?? 0],
    )
    raised += rows.length
    await tx.query(
      `update work_item w set turn = reordered.turn from (
         select item_id, $4::bigint + coalesce(
           sum(cost) over (order by item_id rows between unbounded preceding and 1 preceding), 0)::bigint as turn
         from work_item where kind = $1 and group_key = $2 and priority = $3 and state = 'waiting') reordered
       where w.item_id = reordered.item_id and w.turn <> reordered.turn`,
      [kind, group, target, front?.turn ?? 0],
    )
  }
  tx.afterCommit(waiting.wake)
  return raised
}

async function lease(query: Query, request: LeaseRequest, waiting: Waiting, signal: AbortSignal): Promise<LeasedItem | undefined> {
  // The wait is not part of a lease, so the local monotonic clock is sufficient.
  const deadline = performance.now() + (request.waitMs ?? 0)
  const leased = request.requestId === undefined ? undefined : await leasedByRequest(query, request.holder, request.requestId)
  if (leased) return leased
  const group = JSON.stringify([request.kinds, request.itemId, request.key])
  for (;;) {
    signal.throwIfAborted()
    const item = await leaseNow(query, request)
    const remainingMs = deadline - performance.now()
    if (item || remainingMs <= 0) return item
    await waiting.pause(remainingMs, group, signal)
  }
}

/**
 * `due_time` is rounded to milliseconds. A clock with a finer resolution could be up to half a millisecond
 * behind it, so an item that is due now would not count as due.
 */
const IS_DUE = 'due_time <= now()::timestamptz(3)'
/** Condition on the items that a request may lease. Its parameters are those of `leaseNow`. */
const IS_CANDIDATE = `state = 'waiting' and ${IS_DUE} and ($6::bigint is null or item_id = $6)
  and ($10::text is null or key = $10)
  and ($7::int is null or priority >= $7) and ($8::int is null or priority >= $8 or not exists (
    select from work_item where state = 'waiting' and kind = any($9) and priority >= $8 and ${IS_DUE}))`
const IN_ORDER = 'order by priority desc, turn, item_id'

/**
 * Returns SQL of the first `count` candidates of each kind. It reads each kind in the order of the index `work_item_waiting`,
 * so its cost is independent of the number of waiting items. With `kind = any(…)`, PostgreSQL would sort all of them.
 */
const firstOfEachKind = (count: number, condition = '') => `select candidate.* from unnest($1::text[]) as requested (kind),
  lateral (select item_id, weight, skipped_time, priority, turn from work_item where work_item.kind = requested.kind and ${IS_CANDIDATE} ${condition}
    ${IN_ORDER} limit ${count}) candidate`

/** Candidates of a lease. Others may have locked some of them; fewer leases run at the same moment. */
const CANDIDATES = 64

/**
 * If the first item needs more resources than the worker has, this records since when it is skipped. After
 * `SKIPPED_SECONDS` no weighted item is leased before it.
 */
const RECORD_SKIPPED = `head as (select * from (${firstOfEachKind(1)}) first ${IN_ORDER} limit 1),
  skipped as (update work_item set skipped_time = now() where item_id = (
    select w.item_id from work_item w join head h on w.item_id = h.item_id and h.weight > $5
    where w.state = 'waiting' and w.skipped_time is null for update of w skip locked)),`
const FITS_CAPACITY = `and weight <= $5 and (weight = 0 or not exists (
  select from head where weight > $5 and skipped_time < now() - interval '${SKIPPED_SECONDS} seconds'))`

/** Leases the next item in a single statement, so that no other session can see it leased without its fence. */
async function leaseNow(query: Query, request: LeaseRequest): Promise<LeasedItem | undefined> {
  const { kinds, holder, leaseMs, requestId, capacity, itemId, minPriority, yieldTo, key } = request
  const [row] = await query<Row>(
    `with ${capacity === undefined ? '' : RECORD_SKIPPED}
     candidates as materialized (${firstOfEachKind(CANDIDATES, capacity === undefined ? 'and $5::int is null' : FITS_CAPACITY)})
     update work_item set state = 'leased', fence = nextval('work_fence'), holder = $2, request_id = $4, lease_ms = $3::int,
       lease_time = now(), lease_end = now() + $3::int * interval '1 millisecond'
     where item_id = (
       select item_id from work_item where item_id = any(array(select item_id from candidates)) and state = 'waiting'
       ${IN_ORDER} limit 1 for update skip locked)
     returning ${LEASED_COLUMNS}`,
    [
      kinds,
      holder,
      leaseMs,
      requestId ?? null,
      capacity ?? null,
      itemId ?? null,
      minPriority ?? null,
      yieldTo?.priority ?? null,
      yieldTo?.kinds ?? null,
      key ?? null,
    ],
  )
  return row && toItem(row)
}

async function leasedByRequest(query: Query, holder: string, requestId: string): Promise<LeasedItem | undefined> {
  const [row] = await query<Row>(`select ${LEASED_COLUMNS} from work_item where state = 'leased' and holder = $1 and request_id = $2`, [
    holder,
    requestId,
  ])
  return row && toItem(row)
}

function toItem(row: Row): LeasedItem {
  return {
    itemId: row.item_id,
    fence: Number(row.fence),
    key: row.key,
    kind: row.kind,
    group: row.group_key,
    payload: row.payload,
    holder: row.holder,
    traceparent: row.traceparent ?? undefined,
  }
}
