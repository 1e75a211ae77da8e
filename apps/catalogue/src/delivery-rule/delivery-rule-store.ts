import type { Db } from '@vitascope/postgres'
import type { DeliveryRuleStore } from './delivery-rule.ts'

interface Row {
  version: string
  prefix: string
  earlier: { version: string; prefix: string }[]
  token_required: boolean
  allowed_ips: string[]
  expire_time: Date | null
}

const FIND = `
  select v.delivery_version as version, m.renditions ->> 'prefix' as prefix, m.token_required, v.expire_time,
    case when v.allowed_ips = '{}' then o.allowed_ips else v.allowed_ips end as allowed_ips,
    coalesce((select json_agg(json_build_object('version', s.version, 'prefix', s.prefix) order by s.expire_time desc)
              from delivery_set s where s.video_id = v.video_id and s.expire_time > now()), '[]') as earlier
  from video v join media m using (media_id) join organisation o on o.organisation_id = v.organisation_id
  where v.video_id = $1 and v.enabled and o.active and (v.expire_time is null or v.expire_time > now())
    and v.delivery_version <> '' and m.renditions is not null`

export function createDeliveryRuleStore(db: Db): DeliveryRuleStore {
  return {
    async find(videoId, signal) {
      signal?.throwIfAborted()
      const [row] = await db.query<Row>(FIND, [videoId])
      return (
        row && {
          sets: [{ version: row.version, prefix: row.prefix }, ...row.earlier],
          tokenRequired: row.token_required,
          allowedIps: row.allowed_ips,
          expireTime: row.expire_time ?? undefined,
        }
      )
    },
    async sweep() {
      await db.query('delete from delivery_set where expire_time < now()')
    },
  }
}
