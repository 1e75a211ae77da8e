import type { Db, Query, Transaction } from '@vitascope/postgres'
import type { Ask, Lease, LeasedItem, Queue, QueueDepth, WorkItem } from './queue.ts'
import { createWaiting, type Waiting } from './waiting.ts'

interface Row {
  item_id: string
  fence: number
  key: string
  kind: string
  group_key: string
  payload: unknown
  holder: string
}

/** So long an item is passed over by whoever has no room for it, before others wait until there is. */
const PASSED_SECONDS = 30

const LEASED_COLUMNS = 'item_id, fence, key, kind, group_key, payload, holder'

/** A queue on the table `work_item` of the service's own schema. */
export function createQueue(db: Db): Queue {
  const waiting = createWaiting()
  const back = async (tx: Transaction, { itemId, fence }: Lease, delayMs: number, only = '') => {
    const rows = await tx.query(
      `update work_item set state = 'waiting', holder = null, ask = null, lease_ms = null, lease_end = null,
         due_time = now() + $3::int * interval '1 millisecond'
       where item_id = $1 and fence = $2 and state = 'leased' ${only} returning 1`,
      [itemId, fence, delayMs],
    )
    tx.afterCommit(waiting.wake)
    return rows.length === 1
  }
  return {
    send: (tx, item) => send(tx, item, waiting),
    lease: (ask, signal) => lease(db.query, ask, waiting, signal),
    async beat({ itemId, fence }, tx) {
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
    async completedBy(tx, { itemId, fence }) {
      const rows = await tx.query(`select 1 from work_item where item_id = $1 and fence = $2 and state = 'done'`, [itemId, fence])
      return rows.length === 1
    },
    retry: back,
    release: (tx, held) => back(tx, held, 0),
    rescue: (tx, held, delayMs) => back(tx, held, delayMs, 'and lease_end < now()'),
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
    heldByAsk: (holder, ask) => heldByAsk(db.query, holder, ask),
    async heldBy(holders) {
      const rows = await db.query<Row>(`select ${LEASED_COLUMNS} from work_item where state = 'leased' and holder = any($1)`, [holders])
      return rows.map(toItem)
    },
    depth: () =>
      db.query<QueueDepth>(
        `select kind, count(*) filter (where state = 'waiting')::int as waiting, count(*) filter (where state = 'leased')::int as leased
         from work_item where state in ('waiting', 'leased') group by kind order by kind`,
      ),
    async sweep() {
      await db.query(`delete from work_item where state = 'done' and done_time < now() - interval '1 day'`)
    },
  }
}

/**
 * A group that was idle gets the place of whoever is first in line now, one that has items a place behind its last one: so a
 * group with a thousand items and a group with one are served in turn. Each priority is a line of its own: what waits in a lower one takes
 * nobody's turn in a higher one.
 */
async function send(tx: Transaction, { key, kind, group, priority, payload, weight = 0 }: WorkItem, waiting: Waiting): Promise<string> {
  const [row] = await tx.query<{ item_id: string }>(
    `insert into work_item (key, kind, group_key, priority, payload, weight, turn)
     select $1, $2, $3, $4, $5, $6::int, greatest(
       (select max(turn) + 1 from work_item where kind = $2 and group_key = $3 and priority = $4 and state in ('waiting', 'leased')),
       coalesce(
         (select min(turn) from work_item where kind = $2 and priority = $4 and state = 'waiting'),
         (select max(turn) from work_item where kind = $2 and priority = $4 and state = 'leased'),
         0))
     returning item_id`,
    [key, kind, group, priority, JSON.stringify(payload), weight],
  )
  if (!row) throw new Error('an insert answered no row')
  tx.afterCommit(waiting.wake)
  return row.item_id
}

async function lease(query: Query, ask: Ask, waiting: Waiting, signal: AbortSignal): Promise<LeasedItem | undefined> {
  // How long somebody waits is no lease: the clock of this machine is good enough, and it never goes backwards.
  const until = performance.now() + (ask.waitMs ?? 0)
  const held = ask.ask === undefined ? undefined : await heldByAsk(query, ask.holder, ask.ask)
  if (held) return held
  for (;;) {
    signal.throwIfAborted()
    const item = await leaseNow(query, ask)
    const left = until - performance.now()
    if (item || left <= 0) return item
    await waiting.pause(left, signal)
  }
}

/** `due_time` has whole milliseconds, the nearest ones: what was made due just now would not be yet for half of one by a clock that tells more. */
const IS_DUE = 'due_time <= now()::timestamptz(3)'
/** What an ask may be given, in the order in which it is; parameters of `leaseNow`. */
const LINE = `state = 'waiting' and kind = any($1) and ${IS_DUE} and ($6::bigint is null or item_id = $6)
  and ($10::text is null or key = $10)
  and ($7::int is null or priority >= $7) and ($8::int is null or priority >= $8 or not exists (
    select from work_item where state = 'waiting' and kind = any($9) and priority >= $8 and ${IS_DUE}))`
const IN_LINE = 'order by priority desc, turn, item_id limit 1'

/** The next item is left to others once more, or, when that has gone on for too long, all that needs room waits for it. */
const PASSING = `with head as (select item_id, weight, passed_time from work_item where ${LINE} ${IN_LINE}),
  passed as (update work_item set passed_time = now() where item_id = (
    select w.item_id from work_item w join head h on w.item_id = h.item_id and h.weight > $5
    where w.state = 'waiting' and w.passed_time is null for update of w skip locked))`
const ROOM = `and weight <= $5 and (weight = 0 or not exists (
  select from head where weight > $5 and passed_time < now() - interval '${PASSED_SECONDS} seconds'))`

/** One statement, and with it one transaction of its own: nobody can see the item taken and without its fence. */
async function leaseNow(query: Query, asked: Ask): Promise<LeasedItem | undefined> {
  const { kinds, holder, leaseMs, ask, room, itemId, least, way, key } = asked
  const [row] = await query<Row>(
    `${room === undefined ? '' : PASSING}
     update work_item set state = 'leased', fence = nextval('work_fence'), holder = $2, ask = $4, lease_ms = $3::int,
       lease_end = now() + $3::int * interval '1 millisecond'
     where item_id = (
       select item_id from work_item where ${LINE} ${room === undefined ? 'and $5::int is null' : ROOM} ${IN_LINE} for update skip locked)
     returning ${LEASED_COLUMNS}`,
    [
      kinds,
      holder,
      leaseMs,
      ask ?? null,
      room ?? null,
      itemId ?? null,
      least ?? null,
      way?.priority ?? null,
      way?.kinds ?? null,
      key ?? null,
    ],
  )
  return row && toItem(row)
}

async function heldByAsk(query: Query, holder: string, ask: string): Promise<LeasedItem | undefined> {
  const [row] = await query<Row>(`select ${LEASED_COLUMNS} from work_item where state = 'leased' and holder = $1 and ask = $2`, [
    holder,
    ask,
  ])
  return row && toItem(row)
}

function toItem(row: Row): LeasedItem {
  return {
    itemId: row.item_id,
    fence: row.fence,
    key: row.key,
    kind: row.kind,
    group: row.group_key,
    payload: row.payload,
    holder: row.holder,
  }
}
