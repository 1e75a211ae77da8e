import type { Db, Transaction } from '@vitascope/postgres'
import type { EventType, ForeignEvent, NewEvent } from './event.ts'

export interface EventStore {
  /** Stores an event of another service; one that is known changes nothing. */
  take(event: ForeignEvent, signal?: AbortSignal): Promise<void>
  /** Removes what is older than seven days, with its deliveries. */
  sweep(signal?: AbortSignal): Promise<void>
}

/** Rows that one statement of the sweep removes. */
const SWEPT_AT_ONCE = 2_000
const SWEEP_ROUNDS = 50

export function createEventStore(db: Db): EventStore {
  return {
    take: ({ eventId, type, organisationId, objectKey, dataJson }, signal) =>
      db.transaction(async (tx) => {
        await tx.query(
          `insert into event (event_id, type, organisation_id, object_key, data) values ($1, $2, $3, $4, $5) on conflict (event_id) do nothing`,
          [eventId, type, organisationId, objectKey, dataJson],
        )
      }, signal),
    async sweep(signal) {
      for (let round = 0; round < SWEEP_ROUNDS; round++) {
        signal?.throwIfAborted()
        const gone = await db.query(
          `delete from event where event_id in
             (select event_id from event where create_time < now() - interval '7 days' order by create_time limit $1)
           returning 1`,
          [SWEPT_AT_ONCE],
        )
        if (gone.length < SWEPT_AT_ONCE) return
      }
    },
  }
}

const ASKED = `exists (select from webhook w where w.organisation_id = $2 and w.enabled and $1 = any (w.events))`

/** What happened to a job has one id for ever, so that receivers know it when it is told again by a database that went back in time. */
const ID = (data: string, of: string) => `case when ${data} ? 'job_id'
  then 'evt_' || md5(concat_ws('/', $1::text, ${data} ->> 'job_id', ${of}))
  else 'evt_' || replace(gen_random_uuid()::text, '-', '') end`

/** Writes an event in the transaction of its cause, where a webhook asks for it; the database queues its deliveries. */
export async function addEvent(tx: Transaction, { type, organisationId, objectKey, data }: NewEvent): Promise<void> {
  await tx.query(
    `insert into event (event_id, type, organisation_id, object_key, data)
     select ${ID('$4::jsonb', '$3::text')}, $1::text, $2::bigint, $3::text, $4::jsonb where ${ASKED} on conflict (event_id) do nothing`,
    [type, organisationId, objectKey, JSON.stringify(data)],
  )
}

/** One event for each video of a locked media, oldest video first. */
export async function addVideoEvents(
  tx: Transaction,
  type: EventType,
  { mediaId, organisationId }: { mediaId: string; organisationId: string },
  more: NewEvent['data'] = {},
): Promise<void> {
  await tx.query(
    `insert into event (event_id, type, organisation_id, object_key, data)
     select ${ID('$4::jsonb', 'v.video_id')}, $1::text, $2::bigint, 'media:' || v.media_id,
       jsonb_build_object('video_id', v.video_id::text, 'media_id', v.media_id::text, 'organisation_id', v.organisation_id::text) || $4::jsonb
     from video v where v.media_id = $3 and ${ASKED} order by v.create_time, v.video_id
     on conflict (event_id) do nothing`,
    [type, organisationId, mediaId, JSON.stringify(more)],
  )
}
