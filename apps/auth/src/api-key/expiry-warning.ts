import { randomUUID } from 'node:crypto'
import { type Channel, serviceCall } from '@vitascope/grpc'
import type { Db, Outbox, OutboxHandlers } from '@vitascope/postgres'
import { type AddEventRequest, EventServiceService } from '@vitascope/proto/catalogue/v1/event'
import type { EventType } from '@vitascope/proto/event-types'
import type { Logger } from '@vitascope/telemetry'
import type { KeyCipher } from '../key/key-encryption.ts'

interface ExpiringRow {
  api_key_id: string
  user_id: string
  organisation_id: string
  application_name: string
  lookup: Buffer
  sealed_value: Buffer
  expire_time: Date
}

export const EVENT_TOPIC = 'event'

/** The event is created at most this long before the key expires. */
const WARNING_PERIOD = '7 days'
const EVENTS_PER_ROUND = 100
/** Number of characters of the key in the event. The audit log shows the same prefix. */
const KEY_START_LENGTH = 8

/**
 * Adds a `key.expiring` event to the outbox for every key that expires within 7 days, once per key.
 * Several replicas can run this at the same time.
 */
export async function warnOfExpiry({ db, outbox, cipher, log }: { db: Db; outbox: Outbox; cipher: KeyCipher; log: Logger }): Promise<void> {
  let warned: number
  do {
    warned = await db.transaction(async (tx) => {
      const rows = await tx.query<ExpiringRow>(
        `update api_key k set warn_time = now() from users u
         where u.user_id = k.user_id and k.api_key_id in (
           select api_key_id from api_key
           where expire_time > now() and expire_time <= now() + interval '${WARNING_PERIOD}' and revoke_time is null and warn_time is null
           order by expire_time limit ${EVENTS_PER_ROUND} for update skip locked)
         returning k.api_key_id, k.user_id, u.organisation_id, k.application_name, k.lookup, k.sealed_value, k.expire_time`,
      )
      for (const row of rows)
        await outbox.enqueue(tx, {
          topic: EVENT_TOPIC,
          key: `key:${row.api_key_id}`,
          payload: toEvent(row, readKeyStart(row, cipher, log)),
        })
      return rows.length
    })
  } while (warned === EVENTS_PER_ROUND)
}

/**
 * Returns the outbox handler that sends events to the catalogue, which delivers them to the
 * organisation's webhooks.
 */
export function eventOutboxHandlers(catalogue: Channel): OutboxHandlers {
  const events = catalogue.client(EventServiceService)
  return {
    async [EVENT_TOPIC](payload: AddEventRequest, signal) {
      await events.addEvent(payload, serviceCall('auth', randomUUID(), signal))
    },
  }
}

/**
 * Returns the prefix of a key. Returns an empty string if the key cannot be decrypted, so that the
 * other events are still sent.
 */
function readKeyStart({ api_key_id, sealed_value, lookup }: ExpiringRow, cipher: KeyCipher, log: Logger): string {
  try {
    return cipher.open(sealed_value, lookup).toString('utf8').slice(0, KEY_START_LENGTH)
  } catch (error) {
    log.error({ err: error, api_key_id }, 'decrypting an API key failed; check the master key')
    return ''
  }
}

function toEvent(row: ExpiringRow, key: string): AddEventRequest {
  const data = {
    key,
    application_name: row.application_name,
    user_id: row.user_id,
    organisation_id: row.organisation_id,
    expires: `${row.expire_time.toISOString().slice(0, 19).replace('T', ' ')} GMT`,
  }
  return {
    eventId: `key-expiring-${row.api_key_id}-${row.expire_time.getTime()}`,
    type: 'key.expiring' satisfies EventType,
    organisationId: row.organisation_id,
    objectKey: `key:${row.api_key_id}`,
    dataJson: JSON.stringify(data),
  }
}
