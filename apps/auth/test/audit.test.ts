import { afterAll, describe, expect, test } from '@jest/globals'
import { serviceCall } from '@vitascope/grpc'
import { deleteInBatches } from '@vitascope/postgres'
import { AuditEntry, AuditOutcome, ListEntriesRequest } from '@vitascope/proto/auth/v1/audit'
import { auditRetention, createAuditStore, queryInIndexOrder, toConditions } from '../src/audit/audit-store.ts'
import { toMinId } from '../src/audit/entry-id.ts'
import { errorWith, invalidFields, startAuth } from './auth-setup.ts'
import { as, service } from './test-auth.ts'

const { auth, database, org, system, close } = await startAuth()
const { db } = database
afterAll(close)

const NOW = Date.now()
let createdCount = 0

/** Returns an entry. Its id is greater than the ids of earlier calls with the same time. */
function createEntry(more: Partial<AuditEntry> = {}, ms = NOW): AuditEntry {
  const entryId = `${toMinId(new Date(ms)).slice(0, 13)}-7000-8000-${(++createdCount).toString(16).padStart(12, '0')}`
  return AuditEntry.fromPartial({
    entryId,
    organisationId: org.one,
    userId: '7',
    keyStart: 'vs_abcde',
    action: 'video::put',
    object: '/video/1',
    ...more,
  })
}
const createOutcome = ({ entryId }: AuditEntry, status: number, createdId = '') => AuditOutcome.fromPartial({ entryId, status, createdId })
const append = (entries: AuditEntry[], outcomes: AuditOutcome[] = []) => auth.audit.appendEntries({ entries, outcomes }, service())
const list = (more: Partial<ListEntriesRequest> = {}, call = system) => auth.audit.listEntries(ListEntriesRequest.fromPartial(more), call)

describe('appending', () => {
  test('repeated entries and outcomes change nothing, and both are stored in one call', async () => {
    const entry = createEntry({ object: '/again' })
    await append([entry], [createOutcome(entry, 200, '12')])
    await append([{ ...entry, action: 'video::post' }, createEntry({ object: '/again' })], [createOutcome(entry, 404)])
    expect((await list({ object: '/again' })).entries).toHaveLength(2)
    expect((await list({ object: '/again' })).entries.at(-1)).toEqual(entry)
    expect(await db.query('select status, created_id from audit_outcome where entry_id = $1', [entry.entryId])).toEqual([
      { status: 200, created_id: '12' },
    ])
  })

  test('is limited to services, valid entries and 1,000 entries per call', async () => {
    await expect(auth.audit.appendEntries({ entries: [createEntry()], outcomes: [] }, as('system'))).rejects.toEqual(
      errorWith('forbidden', 'SERVICE_ONLY'),
    )
    await expect(append([createEntry({ entryId: 'x' })])).rejects.toEqual(invalidFields('entries'))
    await expect(append([createEntry({ userId: 'x' })])).rejects.toEqual(invalidFields('entries'))
    await expect(append([createEntry({ object: 'a\0b' })])).rejects.toEqual(invalidFields('entries'))
    await expect(append([], [createOutcome(createEntry({ entryId: '00000000-0000-0000-0000-000000000000' }), 200)])).rejects.toEqual(
      invalidFields('outcomes'),
    )
    await expect(append(Array.from({ length: 1_001 }, () => createEntry()))).rejects.toEqual(invalidFields('entries'))
  })
})

describe('the log', () => {
  test.each([
    'update audit_entry set action = action',
    'delete from audit_entry',
    'truncate audit_entry',
    `update audit_outcome set status = 500`,
    'delete from audit_outcome',
    'truncate audit_outcome',
    'delete from PARTITION where true',
    `update PARTITION set action = 'x'`,
  ])('is append-only: %s is rejected', async (statement) => {
    const before = await db.query('select count(*) from audit_entry')
    const [part] = await db.query<{ name: string }>('select tableoid::regclass::text as name from audit_entry limit 1')
    await expect(db.query(statement.replace('PARTITION', part?.name ?? ''))).rejects.toThrow(/append-only|permission denied/)
    expect(await db.query('select count(*) from audit_entry')).toEqual(before)
  })

  test('stores entries of weeks without a partition, and drops weeks that are past the retention', async () => {
    const day = 86_400_000
    // Without the partition of entries from before the log was partitioned, these entries have none.
    const oldPartitions = await db.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent in ('audit_entry'::regclass, 'audit_outcome'::regclass)
         and inhrelid::regclass::text like '%before%'`,
    )
    for (const { name } of oldPartitions) await db.query(`drop table ${name}`)
    const [old, recent, next] = [
      createEntry({ object: '/swept' }, NOW - 37 * day),
      createEntry({ object: '/swept' }, NOW - 29 * day),
      createEntry({ object: '/swept' }, NOW + 90 * day),
    ]
    await append([old, recent, next], [createOutcome(old, 200), createOutcome(recent, 200)])
    expect((await list({ object: '/swept' })).entries).toEqual([next, recent, old])
    const { signal } = new AbortController()
    for (const { remove } of auditRetention(db, 30)) await deleteInBatches(remove, { signal })
    expect((await list({ object: '/swept' })).entries).toEqual([next, recent])
    expect(await db.query('select from audit_outcome where entry_id = any ($1)', [[old.entryId, recent.entryId]])).toHaveLength(1)
  })
})

describe('a list', () => {
  test('omits rejected requests and includes requests without an outcome', async () => {
    const statuses = [undefined, 200, 201, 302, 400, 403, 404, 409, 429, 499, 500, 503]
    const entries = statuses.map((status) => createEntry({ object: '/ends', requestId: `${status}` }))
    await append(
      entries,
      entries.flatMap((entry, index) => (statuses[index] === undefined ? [] : [createOutcome(entry, statuses[index] ?? 0)])),
    )
    const shown = (await list({ object: '/ends' })).entries.map(({ requestId }) => requestId)
    expect(shown).toEqual(['503', '500', '302', '201', '200', 'undefined'])
  })

  test('shows a super user the entries of its own organisation, and is forbidden for uploaders', async () => {
    await append([
      createEntry({ object: '/whose' }),
      createEntry({ object: '/whose', organisationId: org.two }),
      createEntry({ object: '/whose', organisationId: '' }),
    ])
    expect((await list({ object: '/whose' })).entries).toHaveLength(3)
    const own = as('standard', org.two)
    expect((await list({ object: '/whose' }, own)).entries.map(({ organisationId }) => organisationId)).toEqual([org.two])
    expect((await list({ userId: '7' }, own)).entries.every(({ organisationId }) => organisationId === org.two)).toBe(true)
    await expect(list({ organisationId: org.one }, own)).rejects.toEqual(errorWith('forbidden', 'FOREIGN_ORGANISATION'))
    await expect(list({}, as('uploader', org.two))).rejects.toEqual(errorWith('forbidden', 'SUPER_USER_ONLY'))
  })

  test('continues after the scan limit of one call, for any filter', async () => {
    const store = createAuditStore(db, 3)
    const { signal } = serviceCall('test', '')
    const entries = Array.from({ length: 10 }, (_, index) => createEntry({ object: '/bounded', userId: index % 5 === 0 ? '8' : '9' }))
    await append(entries)
    const entryIds: string[] = []
    const sizes: number[] = []
    const filter = { organisationId: undefined, action: undefined, from: undefined, until: undefined, object: '/bounded', userId: '8' }
    for (let before: string | undefined, calls = 0; calls < 20; calls++) {
      const page = await store.list(filter, { size: 5, before }, signal)
      entryIds.push(...page.entries.map(({ entryId }) => entryId))
      sizes.push(page.entries.length)
      before = page.next
      if (before === undefined) break
    }
    expect(entryIds).toEqual([entries[5]?.entryId, entries[0]?.entryId])
    expect(sizes).toEqual([0, 1, 0, 1])
  })

  test('reads a large log through an index only, for every combination of filters', async () => {
    // This entry creates the partition of the rows below.
    await append([createEntry({ object: '/early' }, 0x0190_0000_0000)])
    await db.query(
      `insert into audit_entry (entry_id, organisation_id, user_id, key_start, action, object, request_id, address)
       select ('01900000-' || lpad(to_hex(n % 65536), 4, '0') || '-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, n % 50 + 100, n % 500 + 100, 'vs_abcde',
         'noun' || n % 20 || '::put', '/noun/' || n % 1000, 'r' || n, '127.0.0.1'
       from generate_series(1, 60000) n`,
    )
    await db.query('analyze audit_entry')
    const picks = { organisationId: '105', userId: '105', action: 'noun5::put', object: '/noun/5' } as const
    const leads = [
      [],
      ['organisationId'],
      ['userId'],
      ['action'],
      ['object'],
      ['organisationId', 'action'],
      ['organisationId', 'object'],
    ] as const
    for (const led of leads) {
      const none = { organisationId: undefined, userId: undefined, action: undefined, object: undefined, from: undefined, until: undefined }
      const filter = { ...none, ...Object.fromEntries(led.map((name) => [name, picks[name]])) }
      const { indexRange: span, order, values } = toConditions(filter, '01900000-8000-7000-8000-000000000000')
      const [row] = await queryInIndexOrder<{ 'QUERY PLAN': unknown }>(
        db,
        `explain (format json) select * from audit_entry where ${span} order by ${order} limit 2000`,
        values,
        serviceCall('test', '').signal,
      )
      const plan = JSON.stringify(row?.['QUERY PLAN'])
      expect([led, /Seq Scan|Sort"|"Filter/.test(plan) ? plan : '']).toEqual([led, ''])
    }
  })
})
