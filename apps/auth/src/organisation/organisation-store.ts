import { type Db, type Outbox, type Query, type Transaction, withIdempotency } from '@vitascope/postgres'
import { notifyKeyChange } from '../key/key-change.ts'
import { plainCodec } from '../key/response-codec.ts'
import type { Organisation, OrganisationDetails, OrganisationStore, Quota } from './organisation.ts'

export interface OrganisationRow {
  organisation_id: string
  name: string
  active: boolean
  default_setting_id: string | null
  default_theme_id: string | null
  allowed_ips: string[]
  quota_bytes: string | null
  quota_minutes_per_month: string | null
  quota_concurrent_jobs: number | null
  public_page: boolean
  revision: string
  create_time: Date
  update_time: Date
}

/**
 * Outbox message that sends the state of an organisation to the catalogue. A message with a higher
 * revision supersedes all earlier ones.
 */
export interface OrganisationChanged {
  organisationId: string
  revision: number
  active: boolean
  allowedIps: readonly string[]
  /** Empty if the organisation has none. */
  defaultSettingId: string
  /** Empty if the organisation has none. */
  defaultThemeId: string
  /** Undefined in messages that an earlier release without quotas added to the outbox. */
  quota?: Quota
}

export const ORGANISATION_CHANGED = 'organisation.changed'

/**
 * SQL of the revision of a change. It contains the time in ms, so that it is also higher than the revisions of changes
 * that a failover of the database lost. The catalogue may have received these.
 */
const NEXT_REVISION = 'greatest(revision + 1, (extract(epoch from clock_timestamp()) * 1000)::bigint)'

export function createOrganisationStore(db: Db, outbox: Outbox): OrganisationStore {
  return {
    async find(organisationId, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<OrganisationRow>('select * from organisation where organisation_id = $1', [organisationId])
      return row && toOrganisation(row)
    },
    async list({ limit, after, skip }, activeOnly, signal) {
      signal.throwIfAborted()
      const rows = await db.query<OrganisationRow>(
        `select * from organisation where organisation_id > $1 and (active or not $2) order by organisation_id offset $3 limit $4`,
        [after, activeOnly, skip, limit],
      )
      return rows.map(toOrganisation)
    },
    create: (name, call) =>
      withIdempotency(db, call, plainCodec<Organisation>(), async (tx) => {
        const rows = await tx.query<OrganisationRow>('insert into organisation (name) values ($1) returning *', [name])
        return enqueueChange(tx, outbox, rows)
      }),
    update: (organisationId, change, signal) =>
      db.transaction(async (tx) => {
        const before = await lock(tx.query, organisationId)
        if (!before) return undefined
        const rows = await tx.query<OrganisationRow>(
          `update organisation set name = $2, active = $3, default_setting_id = $4, default_theme_id = $5, allowed_ips = $6, quota_bytes = $7,
             quota_minutes_per_month = $8, quota_concurrent_jobs = $9, public_page = $10, revision = ${NEXT_REVISION},
             update_time = now()
           where organisation_id = $1 returning *`,
          [organisationId, ...toColumns({ ...before, ...change })],
        )
        const after = await enqueueChange(tx, outbox, rows)
        if (after.active !== before.active) {
          // The keys of an inactive organisation are rejected, so cached data of the keys is outdated.
          await notifyKeyChange(tx.query, 'user_id in (select user_id from users where organisation_id = $1)', [organisationId])
        }
        return after
      }, signal),
  }
}

/**
 * Adds the message for the catalogue to the outbox, and returns the written organisation. `rows` is the
 * result of the statement that wrote it. Throws if it is empty.
 */
export async function enqueueChange(tx: Transaction, outbox: Outbox, rows: readonly OrganisationRow[]): Promise<Organisation> {
  const [row] = rows
  if (!row) throw new Error('the statement has written no organisation')
  const organisation = toOrganisation(row)
  const payload: OrganisationChanged = {
    organisationId: organisation.organisationId,
    revision: organisation.revision,
    active: organisation.active,
    allowedIps: organisation.allowedIps,
    defaultSettingId: organisation.defaultSettingId ?? '',
    defaultThemeId: organisation.defaultThemeId ?? '',
    quota: organisation.quota,
  }
  await outbox.enqueue(tx, { topic: ORGANISATION_CHANGED, key: `organisation:${organisation.organisationId}`, payload })
  return organisation
}

async function lock(query: Query, organisationId: string): Promise<Organisation | undefined> {
  const [row] = await query<OrganisationRow>('select * from organisation where organisation_id = $1 for no key update', [organisationId])
  return row && toOrganisation(row)
}

function toColumns({ name, active, defaultSettingId, defaultThemeId, allowedIps, quota, publicPage }: OrganisationDetails): unknown[] {
  const { bytes, minutesPerMonth, concurrentJobs } = quota
  return [name, active, defaultSettingId, defaultThemeId, allowedIps, bytes, minutesPerMonth, concurrentJobs, publicPage]
}

function toOrganisation(row: OrganisationRow): Organisation {
  return {
    organisationId: row.organisation_id,
    name: row.name,
    active: row.active,
    defaultSettingId: row.default_setting_id ?? undefined,
    defaultThemeId: row.default_theme_id ?? undefined,
    allowedIps: row.allowed_ips,
    quota: {
      bytes: toNumber(row.quota_bytes),
      minutesPerMonth: toNumber(row.quota_minutes_per_month),
      concurrentJobs: row.quota_concurrent_jobs ?? undefined,
    },
    publicPage: row.public_page,
    revision: Number(row.revision),
    createTime: row.create_time,
    updateTime: row.update_time,
  }
}

/** Converts a bigint column to a number. Only safe integers are stored. */
function toNumber(text: string | null): number | undefined {
  return text === null ? undefined : Number(text)
}
