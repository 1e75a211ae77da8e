import { invalid } from '@vitascope/errors'
import type { AuditEntry } from '@vitascope/proto/auth/v1/audit'
import { z } from 'zod'
import { parseTime } from '../../server/audit/entry-id.ts'
import { route } from '../../server/route/route.ts'
import { idField, int, organisationIdField, text, timestamp } from '../../server/schema/fields.ts'
import { formatOptionalTimestamp, schema } from '../../server/schema/response-format.ts'
import { queriedOrganisation } from '../shared/resolve-organisation.ts'

const AuditResponse = z
  .object({
    time: schema.timestamp('Time of the request.'),
    user_id: schema.text('Id of the user of the key. Empty without a key.', '7'),
    key: schema.text('First 8 characters of the key. Empty without a key.', 'vs_4fGx1'),
    action: schema.text('The ACL resource of the endpoint.', 'video::put'),
    object: schema.text('Path of the request, without possible secrets.', '/video/42'),
    request_id: schema.text('`X-Request-Id` of the response.', 'b7e1f0a2-5c0d-4a6b-9d55-0b1f6a3c9e11'),
    address: schema.text('IP address of the client.', '192.0.2.7'),
  })
  .meta({ id: 'AuditEntry', description: 'A write in the audit log.' })

/** Each call searches a bounded part of the log, so a rare filter needs several calls. */
const MAX_CALLS = 10

export const listAudit = route({
  get: ['/audit'],
  operationId: 'listAuditEntries',
  section: 'Audit log',
  access: 'super',
  summary: 'List the entries of the audit log',
  description: `Returns writes that succeeded, and writes whose result is unknown because a process died. Rejected requests are not listed. The
newest entry is first. A super user sees the writes made with keys of its organisation. A system key sees all writes. A page may
have fewer entries than \`limit\`, or none, and still have a \`next\`.`,
  query: z.object({
    organisation_id: organisationIdField({
      description: 'Id of the organisation whose keys made the writes. If it is omitted, a system key sees all.',
    }).optional(),
    user_id: idField('user').optional(),
    action: text(100, { min: 1 }, { description: 'ACL resource of the endpoint.', example: 'video::put' }).optional(),
    object: text(1_000, { min: 1 }, { description: 'Exact path of the request, with or without `/v2`.', example: '/video/42' }).optional(),
    from: timestamp({ description: 'First second of the period, in UTC.' }).optional(),
    to: timestamp({ description: 'Last second of the period, in UTC.' }).optional(),
    cursor: text(200, { min: 1 }, { description: '`next` of the previous page.' }).optional(),
    limit: int({ min: 1, max: 1_000 }, { description: 'Maximum number of entries.' }).default(100),
  }),
  response: z.object({
    entries: z.array(AuditResponse),
    next: z.string().nullable().meta({ description: '`cursor` of the next page. null on the last page.' }),
  }),
  async handle({ query }, { caller, services, call }) {
    const organisationId = queriedOrganisation(caller, query.organisation_id) ?? ''
    if (query.from && query.to && query.from > query.to) throw invalid([{ field: 'to', message: 'must not be before from' }])
    const filter = {
      organisationId,
      userId: query.user_id ?? '',
      action: query.action ?? '',
      object: query.object?.replace(/^\/v2(?=\/)/, '') ?? '',
      fromTime: query.from,
      untilTime: query.to && new Date(query.to.getTime() + 1_000),
    }
    const entries: AuditEntry[] = []
    let pageToken = query.cursor ?? ''
    for (let calls = 0; calls < MAX_CALLS; calls++) {
      const request = { ...filter, pageSize: query.limit - entries.length, pageToken }
      const page = await services.audit.listEntries(request, call)
      entries.push(...page.entries)
      pageToken = page.nextPageToken
      if (pageToken === '' || entries.length >= query.limit) break
    }
    return { entries: entries.map(auditResponse), next: pageToken === '' ? null : pageToken }
  },
})

export const auditRoutes = [listAudit]

function auditResponse({ entryId, userId, keyStart, action, object, requestId, address }: AuditEntry): z.input<typeof AuditResponse> {
  return {
    time: formatOptionalTimestamp(parseTime(entryId)),
    user_id: userId,
    key: keyStart,
    action,
    object,
    request_id: requestId,
    address,
  }
}
