import { notFound } from '@vitascope/errors'
import type { Handlers } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import type { QuotaServiceService } from '@vitascope/proto/catalogue/v1/quota'
import { parseId } from '../id/id.ts'
import { organisationFor, requireUser } from '../visibility.ts'
import { readUsage } from './reserve.ts'

export function quotaHandlers(db: Db): Handlers<typeof QuotaServiceService> {
  return {
    async getUsage({ organisationId: named }, { principal, signal }) {
      const organisationId = organisationFor(requireUser(principal), named)
      if (organisationId === undefined || !parseId(organisationId)) throw notFound('organisation', named)
      signal.throwIfAborted()
      const { bytes, reservedBytes, ms, reservedMs, jobs } = await readUsage(db.query, organisationId)
      return { usage: { bytes, reservedBytes, millisecondsThisMonth: ms, reservedMilliseconds: reservedMs, jobs } }
    },
  }
}
