import { invalid } from '@vitascope/errors'
import type { AuditEntry } from '@vitascope/proto/auth/v1/audit'
import { z } from 'zod'
import { idField, int, organisationIdField, text, timestamp } from '../fields.ts'
import { queriedOrganisation } from '../organisation-rule.ts'
import { placeNames } from '../pages.ts'
import { shown, timestampText } from '../public-form.ts'
import { withPublicNames } from '../public-names.ts'
import { route } from '../route.ts'
import { timeOfEntry } from './entry-id.ts'

const AuditRecord = z
  .object({
    time: shown.timestamp('When it was asked for.'),
    user_id: shown.text('Id of the user of the key; empty without a key.', '7'),
    key: shown.text('The first 8 characters of the key; empty without a key.', 'vs_4fGx1'),
    action: shown.text('The ACL resource of the endpoint.', 'video::put'),
    object: shown.text('The path, without what could be a secret.', '/video/42'),
    request_id: shown.text('`X-Request-Id` of its answer.'),
    address: shown.text('Where it came from.', '192.0.2.7'),
  })
  .meta({ id: 'AuditEntry', description: 'A write.' })

/** Each call to the log looks at a bounded part of it: a filter that few entries meet takes several. */
const MOST_CALLS = 10

export const listAudit = route({
  get: ['/audit'],
  section: 'Added',
  access: 'super',
  summary: 'List what was written, newest first',
  description: `Every write that succeeded, or whose end is not known (a process died on the way); what was refused is left out. A super user sees
what was written with keys of its organisation; a system key sees all. A page may have fewer entries than \`limit\`, even none, while \`next\` leads on.`,
  query: z.object({
    organisation_id: organisationIdField({ description: 'Whose keys; left out, a system key sees all.' }).optional(),
    user_id: idField('user').optional(),
    action: text(100, { min: 1 }, { description: 'The ACL resource.', example: 'video::put' }).optional(),
    object: text(1_000, { min: 1 }, { description: 'The path exactly, with or without `/v2`.', example: '/video/42' }).optional(),
    from: timestamp({ description: 'The first second that counts. UTC.' }).optional(),
    to: timestamp({ description: 'The last second that counts. UTC.' }).optional(),
    cursor: text(200, { min: 1 }, { description: '`next` of the page before.' }).optional(),
    limit: int({ min: 1, max: 1_000 }, { description: 'Entries at most.' }).default(100),
  }),
  answer: z.object({
    entries: z.array(AuditRecord),
    next: z.string().nullable().meta({ description: '`cursor` of the next page; null at the end.' }),
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
    for (let calls = 0; calls < MOST_CALLS; calls++) {
      const request = { ...filter, pageSize: query.limit - entries.length, pageToken }
      const page = await withPublicNames(placeNames, services.audit.listEntries(request, call))
      entries.push(...page.entries)
      pageToken = page.nextPageToken
      if (pageToken === '' || entries.length >= query.limit) break
    }
    return { entries: entries.map(auditView), next: pageToken === '' ? null : pageToken }
  },
})

export const auditRoutes = [listAudit]

function auditView({ entryId, userId, keyStart, action, object, requestId, address }: AuditEntry): z.input<typeof AuditRecord> {
  return { time: timestampText(timeOfEntry(entryId)), user_id: userId, key: keyStart, action, object, request_id: requestId, address }
}
