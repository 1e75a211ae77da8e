import type { Db } from '@vitascope/postgres'
import type { OrganisationStore } from './organisation.ts'
import { QUOTA_COLUMNS, type QuotaRow, toQuota } from './quota-row.ts'

interface Row extends QuotaRow {
  organisation_id: string
  revision: string
  active: boolean
  allowed_ips: string[]
  default_setting_id: string
  default_theme_id: string
  has_quota: boolean
}

export function createOrganisationStore(db: Db): OrganisationStore {
  return {
    async find(organisationId, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<Row>(
        `select organisation_id, revision, active, allowed_ips, default_setting_id, default_theme_id, has_quota, ${QUOTA_COLUMNS}
         from organisation where organisation_id = $1`,
        [organisationId],
      )
      return (
        row && {
          organisationId: row.organisation_id,
          revision: Number(row.revision),
          active: row.active,
          allowedIps: row.allowed_ips,
          defaultSettingId: row.default_setting_id,
          defaultThemeId: row.default_theme_id,
          quota: row.has_quota ? toQuota(row) : undefined,
        }
      )
    },
    async apply(organisation, signal) {
      signal?.throwIfAborted()
      const { quota } = organisation
      await db.query(
        `insert into organisation as stored
           (organisation_id, revision, active, allowed_ips, default_setting_id, default_theme_id, has_quota, ${QUOTA_COLUMNS})
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         on conflict (organisation_id) do update set revision = excluded.revision, active = excluded.active,
           allowed_ips = excluded.allowed_ips, default_setting_id = excluded.default_setting_id, default_theme_id = excluded.default_theme_id,
           has_quota = stored.has_quota or excluded.has_quota,
           quota_bytes = case when excluded.has_quota then excluded.quota_bytes else stored.quota_bytes end,
           quota_minutes_per_month =
             case when excluded.has_quota then excluded.quota_minutes_per_month else stored.quota_minutes_per_month end,
           quota_concurrent_jobs = case when excluded.has_quota then excluded.quota_concurrent_jobs else stored.quota_concurrent_jobs end
         where stored.revision < excluded.revision
           or (stored.revision = excluded.revision and excluded.has_quota and not stored.has_quota)`,
        [
          organisation.organisationId,
          organisation.revision,
          organisation.active,
          organisation.allowedIps,
          organisation.defaultSettingId,
          organisation.defaultThemeId,
          quota !== undefined,
          quota?.bytes,
          quota?.minutesPerMonth,
          quota?.concurrentJobs,
        ],
      )
    },
  }
}
