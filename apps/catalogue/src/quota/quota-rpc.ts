import { type FieldError, invalid, notFound, requireValid } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import { organisationFor, requireService, requireUser } from '@vitascope/principal'
import type { QuotaServiceService, ReserveUploadRequest } from '@vitascope/proto/catalogue/v1/quota'
import { isId, isUuid } from '@vitascope/request'
import type { Organisations } from '../organisation-replica/organisation.ts'
import { readUsage } from './reserve.ts'
import type { UploadReservations } from './upload-reservation.ts'

const MAX_LIFETIME_SECONDS = 31 * 86_400

export function quotaHandlers(
  db: Db,
  { reservations, organisations }: { reservations: UploadReservations; organisations: Organisations },
): Handlers<typeof QuotaServiceService> {
  return {
    async getUsage({ organisationId: requestedId }, { principal, signal }) {
      const organisationId = organisationFor(requireUser(principal), requestedId)
      if (organisationId === undefined || !isId(organisationId)) throw notFound('organisation', requestedId)
      signal.throwIfAborted()
      const { bytes, reservedBytes, ms, reservedMs, jobs } = await readUsage(db.query, organisationId)
      return { usage: { bytes, reservedBytes, millisecondsThisMonth: ms, reservedMilliseconds: reservedMs, jobs } }
    },
    async reserveUpload(request, { principal, signal }) {
      requireService(principal)
      checkReservation(request)
      const { organisationId, replacesId } = request
      await organisations.requireActive(organisationId, signal)
      await reservations.reserve({ ...request, replacesId: replacesId === '' ? undefined : replacesId }, signal)
      return {}
    },
    async releaseUpload({ reservationId }, { principal }) {
      requireService(principal)
      if (!isUuid(reservationId)) throw invalid([{ field: 'reservation_id', message: 'must be a UUID' }])
      await reservations.release(reservationId)
      return {}
    },
  }
}

function checkReservation({ reservationId, replacesId, bytes, lifetimeSeconds }: ReserveUploadRequest): void {
  const problems: FieldError[] = []
  if (!isUuid(reservationId)) problems.push({ field: 'reservation_id', message: 'must be a UUID' })
  if (replacesId !== '' && !isUuid(replacesId)) problems.push({ field: 'replaces_id', message: 'must be a UUID' })
  if (!Number.isSafeInteger(bytes) || bytes < 0) problems.push({ field: 'bytes', message: 'must be 0 or more' })
  if (lifetimeSeconds < 1 || lifetimeSeconds > MAX_LIFETIME_SECONDS) {
    problems.push({ field: 'lifetime_seconds', message: `must be 1 to ${MAX_LIFETIME_SECONDS}` })
  }
  requireValid(problems)
}
