import type { Handlers } from '@vitascope/grpc'
import { decodePageToken, encodePageToken } from '@vitascope/postgres'
import type { AuditServiceService } from '@vitascope/proto/auth/v1/audit'
import { inspection } from '../rules/input.ts'
import { type AuditStore, appendEntries, listEntries } from './audit.ts'
import { isEntryId } from './entry-id.ts'

const MAX_ROWS = 1_000

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
  const input = inspection()
  if (pageSize < 0) input.note('page_size', 'must be 0 or more')
  const [before] = decodePageToken(pageToken, 1) ?? []
  if (before !== undefined && !isEntryId(before)) input.note('page_token', 'is not one that a list answered')
  input.check()
  return { size: Math.min(pageSize || MAX_ROWS, MAX_ROWS), before }
}
