import type { Db, Transaction } from '@vitascope/postgres'
import type { EventType } from '@vitascope/proto/event-types'
import type { NewEvent, ServiceEvent } from './event.ts'

export interface EventStore {
  /** Stores an event of another service. Does nothing if an event with this id is already stored. */
  addFromService(event: ServiceEvent, signal?: AbortSignal): Promise<void>
  /**
   * Removes up to `limit` events with their deliveries, and returns the number of events. Keeps those
   * of the current UTC day and of the seven days before it.
   */
  sweep(limit: number): Promise<number>
}

/** Number of events per statement of the sweep. Each deletion searches all partitions of deliveries. */
export const EVENTS_PER_SWEEP = 500

export function createEventStore(db: Db): EventStore {
  return {
    addFromService: ({ eventId, type, organisationId, objectKey, dataJson }, signal) =>
      db.transaction(async (tx) => {
        await tx.query(
          `insert into event (event_id, type, organisation_id, object_key, data) values ($1, $2, $3, $4, $5) on conflict (event_id) do nothing`,
          [eventId, type, organisationId, objectKey, dataJson],
        )
      }, signal),
    async sweep(limit) {
      const rows = await db.query(
        `delete from event where event_id in
           (select event_id from event where create_time < date_trunc('day', now() at time zone 'UTC' - interval '7 days') at time zone 'UTC'
            order by create_time limit $1)
         returning 1`,
        [limit],
      )
      return rows.length
    },
  }
}

const HAS_SUBSCRIBER = `exists (select from webhook w where w.organisation_id = $2 and w.enabled and $1 = any (w.events))`

/**
 * Returns the SQL expression of an event id. Job events have a deterministic id, so that
 * receivers recognise a duplicate if the event is created again after a database failover.
 */
const eventIdSql = (data: string, objectId: string) => `case when ${data} ? 'job_id'
  then 'evt_' || md5(concat_ws('/', $1::text, ${data} ->> 'job_id', ${objectId}))
  else 'evt_' || replace(gen_random_uuid()::text, '-', '') end`

/**
 * Stores an event in the transaction of its cause, if a webhook subscribes to it. A database
 * trigger queues the deliveries.
 */
export async function addEvent(tx: Transaction, { type, organisationId, objectKey, data }: NewEvent): Promise<void> {
  await tx.query(
    `insert into event (event_id, type, organisation_id, object_key, data)
     select ${eventIdSql('$4::jsonb', '$3::text')}, $1::text, $2::bigint, $3::text, $4::jsonb where ${HAS_SUBSCRIBER} on conflict (event_id) do nothing`,
    [type, organisationId, objectKey, JSON.stringify(data)],
  )
}

/** Stores one event per video of a locked media, oldest video first. */
export async function addVideoEvents(
  tx: Transaction,
  type: EventType,
  { mediaId, organisationId }: { mediaId: string; organisationId: string },
  data: NewEvent['data'] = {},
): Promise<void> {
  await tx.query(
    `insert into event (event_id, type, organisation_id, object_key, data)
     select ${eventIdSql('$4::jsonb', 'v.video_id')}, $1::text, $2::bigint, 'media:' || v.media_id,
       jsonb_build_object('video_id', v.video_id::text, 'media_id', v.media_id::text, 'organisation_id', v.organisation_id::text) || $4::jsonb
     from video v where v.media_id = $3 and ${HAS_SUBSCRIBER} order by v.create_time, v.video_id
     on conflict (event_id) do nothing`,
    [type, organisationId, mediaId, JSON.stringify(data)],
  )
}
