import type { Handlers } from '@vitascope/grpc'
import type { AuditServiceService } from '@vitascope/proto/auth/v1/audit'
import { decodePageToken, encodePageToken, invalidPageToken, toPageSize } from '@vitascope/request'
import { MAX_ROWS } from '../rules/page-size.ts'
import { type AuditStore, appendEntries, listEntries } from './audit.ts'
import { isEntryId } from './entry-id.ts'

export function auditHandlers(log: AuditStore): Handlers<typeof AuditServiceService> {
  return {
    async appendEntries(request, call) {
      await appendEntries(log, request, call)
      return {}
    },
    async listEntries(request, call) {
      const filter = {
        organisationId: request.organisationId || undefined,
        userId: request.userId || undefined,
        action: request.action || undefined,
        object: request.object || undefined,
        from: request.fromTime,
        until: request.untilTime,
      }
      const { entries, next } = await listEntries(log, filter, readPage(request), call)
      return { entries: [...entries], nextPageToken: next === undefined ? '' : encodePageToken([next]) }
    },
  }
}

function readPage({ pageSize, pageToken }: { pageSize: number; pageToken: string }): { size: number; before: string | undefined } {
  const size = toPageSize({ pageSize }, MAX_ROWS)
  const [before] = decodePageToken(pageToken, 1) ?? []
  if (before !== undefined && !isEntryId(before)) throw invalidPageToken()
  return { size, before }
}
