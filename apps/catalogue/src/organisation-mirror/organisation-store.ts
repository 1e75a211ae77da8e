import type { Db } from '@vitascope/postgres'
import type { OrganisationStore } from './organisation.ts'

interface Row {
  organisation_id: string
  revision: string
  active: boolean
  allowed_ips: string[]
  default_setting_id: string
  default_theme_id: string
}

export function createOrganisationStore(db: Db): OrganisationStore {
  return {
    async find(organisationId, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<Row>(
        `select organisation_id, revision, active, allowed_ips, default_setting_id, default_theme_id
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
        }
      )
    },
    async apply(organisation, signal) {
      signal?.throwIfAborted()
      await db.query(
        `insert into organisation as known (organisation_id, revision, active, allowed_ips, default_setting_id, default_theme_id)
         values ($1, $2, $3, $4, $5, $6)
         on conflict (organisation_id) do update set revision = excluded.revision, active = excluded.active,
           allowed_ips = excluded.allowed_ips, default_setting_id = excluded.default_setting_id, default_theme_id = excluded.default_theme_id
         where known.revision < excluded.revision`,
        [
          organisation.organisationId,
          organisation.revision,
          organisation.active,
          organisation.allowedIps,
          organisation.defaultSettingId,
          organisation.defaultThemeId,
        ],
      )
    },
  }
}
