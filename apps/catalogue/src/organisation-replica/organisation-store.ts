import type { Db } from '@vitascope/postgres'
import type { OrganisationStore } from './organisation.ts'
import { QUOTA_COLUMNS, type QuotaRow, quotaOf } from './quota-row.ts'

interface Row extends QuotaRow {
  organisation_id: string
  revision: string
  active: boolean
  allowed_ips: string[]
  default_setting_id: string
  default_theme_id: string
  quota_known: boolean
}

export function createOrganisationStore(db: Db): OrganisationStore {
  return {
    async find(organisationId, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<Row>(
        `select organisation_id, revision, active, allowed_ips, default_setting_id, default_theme_id, quota_known, ${QUOTA_COLUMNS}
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
          quota: row.quota_known ? quotaOf(row) : undefined,
        }
      )
    },
    async apply(organisation, signal) {
      signal?.throwIfAborted()
      const { quota } = organisation
      await db.query(
        `insert into organisation as known
           (organisation_id, revision, active, allowed_ips, default_setting_id, default_theme_id, quota_known, ${QUOTA_COLUMNS})
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
         on conflict (organisation_id) do update set revision = excluded.revision, active = excluded.active,
           allowed_ips = excluded.allowed_ips, default_setting_id = excluded.default_setting_id, default_theme_id = excluded.default_theme_id,
           quota_known = known.quota_known or excluded.quota_known,
           quota_bytes = case when excluded.quota_known then excluded.quota_bytes else known.quota_bytes end,
           quota_minutes_per_month =
             case when excluded.quota_known then excluded.quota_minutes_per_month else known.quota_minutes_per_month end,
           quota_concurrent_jobs = case when excluded.quota_known then excluded.quota_concurrent_jobs else known.quota_concurrent_jobs end
         where known.revision < excluded.revision
           or (known.revision = excluded.revision and excluded.quota_known and not known.quota_known)`,
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
