import { DomainError } from '@vitascope/errors'
import type { Db } from '@vitascope/postgres'
import { requireUploadQuota } from './quota.ts'
import { lockUsage, readQuota, readUsage } from './reserve.ts'

/** Bytes of an organisation's quota that are reserved for an upload. */
export interface UploadReservation {
  reservationId: string
  organisationId: string
  bytes: number
  /** False if the upload is complete. */
  isOpen: boolean
  /** Seconds from now until the reservation expires. */
  lifetimeSeconds: number
  /** Id of the reservation that this one replaces. */
  replacesId?: string | undefined
}

export interface UploadReservations {
  /**
   * Creates a reservation, or changes and renews the existing one. The call is idempotent. Throws
   * QUOTA_BYTES if the reservation grows and exceeds the quota. Throws TOO_MANY_UPLOADS if it is new and
   * the organisation has the maximum number of open uploads.
   */
  reserve(reservation: UploadReservation, signal?: AbortSignal): Promise<void>
  /** Deletes a reservation, if it exists. */
  release(reservationId: string): Promise<void>
  /** Removes up to `limit` expired reservations and returns their number. */
  sweep(limit: number): Promise<number>
}

const RETRY_AFTER_SECONDS = 10

export function createUploadReservations(db: Db, maxOpenUploads: number): UploadReservations {
  return {
    reserve: ({ reservationId, organisationId, bytes, isOpen, lifetimeSeconds, replacesId }, signal) =>
      db.transaction(async (tx) => {
        await lockUsage(tx, organisationId)
        if (replacesId !== undefined) {
          await tx.query('delete from upload_reservation where reservation_id = $1 and organisation_id = $2', [replacesId, organisationId])
        }
        const [current] = await tx.query<{ bytes: string; is_open: boolean }>(
          'select bytes, is_open from upload_reservation where reservation_id = $1 and organisation_id = $2 and expire_time > now()',
          [reservationId, organisationId],
        )
        if (current === undefined || Number(current.bytes) < bytes) {
          const usage = await readUsage(tx.query, organisationId, { exceptUploadId: reservationId })
          requireUploadQuota(await readQuota(tx, organisationId), usage, bytes)
        }
        if (isOpen && !current?.is_open) await checkOpenUploads(organisationId)
        const rows = await tx.query(
          `insert into upload_reservation as stored (reservation_id, organisation_id, bytes, is_open, expire_time)
           values ($1, $2, $3, $4, now() + $5::int * interval '1 second')
           on conflict (reservation_id) do update set bytes = excluded.bytes, is_open = excluded.is_open, expire_time = excluded.expire_time
             where stored.organisation_id = excluded.organisation_id
           returning 1`,
          [reservationId, organisationId, bytes, isOpen, lifetimeSeconds],
        )
        if (rows.length === 0)
          throw new DomainError('failed_precondition', 'RESERVATION_FOREIGN', 'this reservation belongs to another organisation')

        async function checkOpenUploads(organisationId: string): Promise<void> {
          const [row] = await tx.query<{ open: number }>(
            'select count(*)::int as open from upload_reservation where organisation_id = $1 and is_open and expire_time > now()',
            [organisationId],
          )
          const open = row?.open ?? 0
          if (open < maxOpenUploads) return
          const sentence = `the organisation has ${open} open uploads, and at most ${maxOpenUploads} are allowed: finish or delete one`
          throw new DomainError('exhausted', 'TOO_MANY_UPLOADS', sentence, { retryAfter: RETRY_AFTER_SECONDS })
        }
      }, signal),
    async release(reservationId) {
      await db.query('delete from upload_reservation where reservation_id = $1', [reservationId])
    },
    async sweep(limit) {
      const rows = await db.query(
        `delete from upload_reservation where reservation_id in (
           select reservation_id from upload_reservation where expire_time < now() order by expire_time limit $1 for update skip locked)
         returning 1`,
        [limit],
      )
      return rows.length
    },
  }
}
