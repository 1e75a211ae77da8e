import type { Db } from '@vitascope/postgres'
import { notifyKeyChange } from '../key/key-change.ts'
import type { AccessListStore, Resource } from './access-list.ts'

interface ResourceRow {
  acl_id: number
  name: string
  open_to_users: boolean
}

export function createAccessListStore(db: Db): AccessListStore {
  return {
    async list(signal) {
      signal.throwIfAborted()
      return (await db.query<ResourceRow>('select acl_id, name, open_to_users from resource order by acl_id')).map(toResource)
    },
    register: (resources, signal) =>
      db.transaction(async ({ query }) => {
        // Several gateways can start at once. The lock serialises them, so that no sequence number
        // is lost to a conflict.
        await query(`select pg_advisory_xact_lock(hashtextextended('vitascope auth resources', 0))`)
        const parameters = [resources.map(({ name }) => name), resources.map(({ openToUsers }) => openToUsers)]
        const added = await query<ResourceRow>(
          `insert into resource (name, open_to_users)
           select name, open from unnest($1::text[], $2::boolean[]) as n (name, open)
           where not exists (select from resource r where r.name = n.name) order by name
           returning acl_id`,
          parameters,
        )
        const changed = await query<ResourceRow>(
          `update resource r set open_to_users = n.open from unnest($1::text[], $2::boolean[]) as n (name, open)
           where r.name = n.name and r.open_to_users <> n.open returning r.acl_id`,
          parameters,
        )
        if (added.length > 0) await notifyKeyChange(query, 'all_resources', [])
        if (changed.length > 0) await notifyKeyChange(query, 'all_resources or acl_ids && $1::int[]', [changed.map((row) => row.acl_id)])
      }, signal),
  }
}

function toResource(row: ResourceRow): Resource {
  return { aclId: row.acl_id, name: row.name, openToUsers: row.open_to_users }
}
