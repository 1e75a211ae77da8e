import { notFound } from '@vitascope/errors'
import type { UserKind } from '@vitascope/grpc'
import { type Db, type Query, withIdempotency } from '@vitascope/postgres'
import { notifyKeyChange } from '../key/key-change.ts'
import type { KeyCipher } from '../key/key-encryption.ts'
import { sealedCodec } from '../key/response-codec.ts'
import type { ApiKey, ApiKeyStore } from './api-key.ts'

interface ApiKeyRow {
  api_key_id: string
  user_id: string
  organisation_id: string
  user_type: UserKind
  application_name: string
  lookup: Buffer
  sealed_value: Buffer
  resources: string[]
  expire_time: Date | null
  create_time: Date
  last_used_time: Date | null
}

/** SQL for the permissions of key k of user u. Granted permissions that the user's type may not have are omitted. */
export const EFFECTIVE_RESOURCES = `array(
  select r.name from resource r
  where (k.all_resources or r.acl_id = any (k.acl_ids)) and (r.open_to_users or u.user_type <> 'uploader') order by r.acl_id)`

const SELECT = `select k.api_key_id, k.user_id, u.organisation_id, u.user_type, k.application_name, k.lookup, k.sealed_value,
    ${EFFECTIVE_RESOURCES} as resources, k.expire_time, k.create_time,
    (select last_used_time from api_key_use where api_key_use.api_key_id = k.api_key_id)
  from api_key k join users u using (user_id)`

export function createApiKeyStore(db: Db, cipher: KeyCipher): ApiKeyStore {
  const toApiKey = (row: ApiKeyRow): ApiKey => ({
    apiKeyId: row.api_key_id,
    value: cipher.open(row.sealed_value, row.lookup).toString('utf8'),
    userId: row.user_id,
    organisationId: row.organisation_id,
    userType: row.user_type,
    applicationName: row.application_name,
    resources: row.resources,
    expireTime: row.expire_time ?? undefined,
    createTime: row.create_time,
    lastUsedTime: row.last_used_time ?? undefined,
  })
  const readKey = async (query: Query, apiKeyId: string) => {
    const [row] = await query<ApiKeyRow>(`${SELECT} where k.api_key_id = $1`, [apiKeyId])
    if (!row) throw new Error('the written key does not exist')
    return toApiKey(row)
  }

  return {
    async find(value, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<ApiKeyRow>(`${SELECT} where k.lookup = any ($1) and k.revoke_time is null`, [cipher.lookups(value)])
      return row && toApiKey(row)
    },
    async list(owner, { limit, after, skip }, signal) {
      signal.throwIfAborted()
      const [column, table, id] =
        'userId' in owner
          ? (['user_id', 'users', owner.userId] as const)
          : (['organisation_id', 'organisation', owner.organisationId] as const)
      const rows = await db.query<ApiKeyRow>(
        `${SELECT} where u.${column} = $1 and k.revoke_time is null and k.api_key_id > $2
           and not exists (select from session s where s.api_key_id = k.api_key_id) order by k.api_key_id offset $3 limit $4`,
        [id, after, skip, limit],
      )
      if (rows.length === 0 && (await db.query(`select from ${table} where ${column} = $1`, [id])).length === 0) return undefined
      return rows.map(toApiKey)
    },
    create: (key, value, grant, call) =>
      withIdempotency(db, call, sealedCodec<ApiKey>(cipher), async ({ query }) => {
        const [user] = await query<{ user_type: UserKind }>('select user_type from users where user_id = $1 for key share', [key.userId])
        if (!user) throw notFound('user', key.userId)
        const existing = await query<{ acl_id: number; name: string; open_to_users: boolean }>(
          'select acl_id, name, open_to_users from resource order by acl_id',
        )
        const existingResources = existing.map((row) => ({ name: row.name, openToUsers: row.open_to_users }))
        const granted = grant({ userType: user.user_type, existingResources })
        const aclIds = granted === 'all' ? [] : existing.filter(({ name }) => granted.includes(name)).map((row) => row.acl_id)
        const { lookup, sealed } = encryptKeyValue(cipher, value)
        const [row] = await query<{ api_key_id: string }>(
          `insert into api_key (user_id, application_name, lookup, sealed_value, acl_ids, all_resources, expire_time)
           values ($1, $2, $3, $4, $5, $6, $7) returning api_key_id`,
          [key.userId, key.applicationName, lookup, sealed, aclIds, granted === 'all', key.expireTime],
        )
        return readKey(query, row?.api_key_id ?? '')
      }),
    replace: (value, newValue, signal) =>
      db.transaction(async ({ query }) => {
        const { lookup, sealed } = encryptKeyValue(cipher, newValue)
        const [row] = await query<{ api_key_id: string }>(
          'update api_key set lookup = $2, sealed_value = $3 where lookup = any ($1) and revoke_time is null returning api_key_id',
          [cipher.lookups(value), lookup, sealed],
        )
        if (!row) return undefined
        await notifyKeyChange(query, 'api_key_id = $1', [row.api_key_id])
        return readKey(query, row.api_key_id)
      }, signal),
    revoke: ({ value, scope }, checkAllowed, signal) =>
      db.transaction(async ({ query }) => {
        const [row] = await query<{ api_key_id: string; user_type: UserKind }>(
          `select k.api_key_id, u.user_type from api_key k join users u using (user_id)
           where k.lookup = any ($1) and k.revoke_time is null and ($2::bigint is null or u.organisation_id = $2) for update of k`,
          [cipher.lookups(value), scope],
        )
        if (!row) return false
        checkAllowed({ userType: row.user_type })
        await query('update api_key set revoke_time = now() where api_key_id = $1', [row.api_key_id])
        await notifyKeyChange(query, 'api_key_id = $1', [row.api_key_id])
        return true
      }, signal),
  }
}

/** Returns the stored form of a key value. The sealed value is bound to its lookup hash. */
export function encryptKeyValue(cipher: KeyCipher, value: string): { lookup: Buffer; sealed: Buffer } {
  const lookup = cipher.hash(value)
  return { lookup, sealed: cipher.seal(Buffer.from(value), lookup) }
}
