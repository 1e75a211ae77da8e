import type { UserKind } from '@vitascope/grpc'
import type { Db } from '@vitascope/postgres'
import { EFFECTIVE_RESOURCES } from './api-key-store.ts'
import type { IdentityStore } from './authenticate.ts'

interface StateRow {
  api_key_id: string
  user_id: string
  organisation_id: string
  user_type: UserKind
  resources: string[]
  expire_time: Date | null
  revoked: boolean
  expired: boolean
  active: boolean
  invited: boolean
}

export function createIdentityStore(db: Db): IdentityStore {
  return {
    async findState(lookups, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<StateRow>(
        `select k.api_key_id, k.user_id, u.organisation_id, u.user_type, ${EFFECTIVE_RESOURCES} as resources, k.expire_time,
           k.revoke_time is not null as revoked, coalesce(k.expire_time <= now(), false) as expired, o.active, u.status = 'invited' as invited
         from api_key k join users u using (user_id) join organisation o using (organisation_id) where k.lookup = any ($1)`,
        [lookups],
      )
      return (
        row && {
          apiKeyId: row.api_key_id,
          userId: row.user_id,
          organisationId: row.organisation_id,
          userType: row.user_type,
          resources: row.resources,
          expireTime: row.expire_time ?? undefined,
          revoked: row.revoked,
          expired: row.expired,
          organisationActive: row.active,
          userInvited: row.invited,
        }
      )
    },
    async activate(userId, signal) {
      signal.throwIfAborted()
      await db.query(`update users set status = 'active', update_time = now() where user_id = $1 and status = 'invited'`, [userId])
    },
  }
}
