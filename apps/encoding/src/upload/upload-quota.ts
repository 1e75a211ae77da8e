import { randomUUID } from 'node:crypto'
import { DomainError, isDomainError } from '@vitascope/errors'
import { type Client, serviceCall } from '@vitascope/grpc'
import type { QuotaServiceService } from '@vitascope/proto/catalogue/v1/quota'
import type { Logger } from '@vitascope/telemetry'
import { hashToUuid } from '../common/hash-to-uuid.ts'

/** Bytes of an organisation's quota that are reserved for an upload. */
export interface Reservation {
  /** Id of the upload. Before the upload has one: `unrecordedReservationId`, or a random UUID. */
  id: string
  organisationId: string
  bytes: number
  /** False for a complete upload. */
  isOpen: boolean
  /** Seconds after which it expires, unless it is renewed. */
  lifetimeSeconds: number
  /** Id of the reservation that this one replaces. */
  replacesId?: string
}

export interface UploadQuota {
  /**
   * Creates, changes or renews a reservation. Throws the catalogue's error (QUOTA_BYTES,
   * TOO_MANY_UPLOADS or ORGANISATION_INACTIVE), or SERVICE_UNAVAILABLE.
   */
  reserve(reservation: Reservation, signal: AbortSignal): Promise<void>
  /** Releases a reservation. A failure is only logged, because the reservation then expires. */
  release(id: string): Promise<void>
}

/**
 * Lifetime of the reservation of a request in progress, which is renewed twice within this time. It
 * also bounds how long the reservation of a killed process remains.
 */
export const REQUEST_LIFETIME_SECONDS = 600

/**
 * Returns the reservation id of a stored object that is not recorded yet. It is the same for each
 * repetition of its form.
 */
export function unrecordedReservationId(object: string): string {
  return hashToUuid(`unrecorded upload ${object}`)
}

export function createUploadQuota(
  quota: Pick<Client<typeof QuotaServiceService>, 'reserveUpload' | 'releaseUpload'>,
  log: Logger,
): UploadQuota {
  return {
    async reserve({ id, organisationId, bytes, isOpen, lifetimeSeconds, replacesId = '' }, signal) {
      const request = { reservationId: id, organisationId, bytes, isOpen, lifetimeSeconds, replacesId }
      try {
        await quota.reserveUpload(request, serviceCall('encoding', randomUUID(), signal))
      } catch (error) {
        signal.throwIfAborted()
        if (isDomainError(error)) throw error
        // During an upgrade, the catalogue may not know this rpc yet.
        log.warn({ err: error, upload_id: id }, 'reserving bytes for an upload failed')
        throw new DomainError('unavailable', 'SERVICE_UNAVAILABLE', 'the quota cannot be checked at the moment; try again', {
          retryAfter: 1,
          cause: error,
        })
      }
    },
    async release(id) {
      try {
        await quota.releaseUpload({ reservationId: id }, serviceCall('encoding', randomUUID(), AbortSignal.timeout(CALL_TIMEOUT_MS)))
      } catch (error) {
        log.warn({ err: error, upload_id: id }, 'releasing the reserved bytes of an upload failed')
      }
    },
  }
}

const CALL_TIMEOUT_MS = 5_000
const RENEW_MS = (REQUEST_LIFETIME_SECONDS * 1_000) / 3

/**
 * Renews a reservation while `work` runs. A failed renewal is logged, and retried before the
 * reservation expires.
 */
export async function withReservation<Result>(
  { quota, log }: { quota: UploadQuota; log: Logger },
  reservation: () => Reservation,
  work: () => Promise<Result>,
): Promise<Result> {
  let renewal = Promise.resolve()
  const renew = async () => {
    try {
      await quota.reserve(reservation(), AbortSignal.timeout(CALL_TIMEOUT_MS))
    } catch (error) {
      log.warn({ err: error, upload_id: reservation().id }, 'renewing the reserved bytes of an upload failed; retrying')
    }
  }
  const timer = setInterval(() => {
    renewal = renew()
  }, RENEW_MS).unref()
  try {
    return await work()
  } finally {
    clearInterval(timer)
    // A renewal that arrives after the release would create the reservation again.
    await renewal
  }
}
