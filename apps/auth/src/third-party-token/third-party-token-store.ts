import { notFound } from '@vitascope/errors'
import { type Db, type Query, withIdempotency } from '@vitascope/postgres'
import type { KeyCipher } from '../key/key-encryption.ts'
import { plainCodec } from '../key/response-codec.ts'
import type { Attribute, ThirdPartyToken, ThirdPartyTokenDetails, ThirdPartyTokenStore } from './third-party-token.ts'

interface TokenRow {
  third_party_token_id: string
  organisation_id: string
  service_name: string
  called_by: string
  username: string
  sealed_token: Buffer
  auth_url: string
  sealed_other_data: Buffer
  expire_time: Date | null
  user_id: string | null
  create_time: Date
  update_time: Date
}

/** Each condition has an index whose last column is the id, so that the newest match is found fast. */
const CONDITIONS: Record<Exclude<Attribute, 'id'>, string> = {
  organisation_id: 'organisation_id = $1',
  service_name: 'service_name = $1',
  called_by: 'called_by = $1',
  username: 'username = $1',
  auth_url: 'md5(auth_url) = md5($1) and auth_url = $1',
  user_id: 'user_id = $1',
}

export function createThirdPartyTokenStore(db: Db, cipher: KeyCipher): ThirdPartyTokenStore {
  const toRecord = (row: TokenRow) => decryptRow(cipher, row)
  return {
    async find(thirdPartyTokenId, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<TokenRow>('select * from third_party_token where third_party_token_id = $1 and delete_time is null', [
        thirdPartyTokenId,
      ])
      return row && toRecord(row)
    },
    async findBy(attribute, value, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<TokenRow>(
        `select * from third_party_token where ${CONDITIONS[attribute]} and delete_time is null order by third_party_token_id desc limit 1`,
        [value],
      )
      return row && toRecord(row)
    },
    create: (details, call) =>
      withIdempotency(db, call, plainCodec<{ thirdPartyTokenId: string; createTime: Date }>(), async ({ query }) => {
        await requireOwner(query, details)
        // The id is needed first, because the secrets are bound to it.
        const [next] = await query<{ id: string }>(
          `select nextval(pg_get_serial_sequence('third_party_token', 'third_party_token_id')) as id`,
        )
        const id = next?.id ?? ''
        const [row] = await query<{ create_time: Date }>(
          `insert into third_party_token (third_party_token_id, organisation_id, service_name, called_by, username, sealed_token, auth_url,
             sealed_other_data, expire_time, user_id)
           overriding system value values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning create_time`,
          [id, ...toColumns(cipher, id, details)],
        )
        if (!row) throw new Error('the written token does not exist')
        return { thirdPartyTokenId: id, createTime: row.create_time }
      }),
    update: ({ thirdPartyTokenId, scope }, change, signal) =>
      db.transaction(async ({ query }) => {
        const [row] = await query<TokenRow>(
          `select * from third_party_token
           where third_party_token_id = $1 and delete_time is null and ($2::bigint is null or organisation_id = $2) for no key update`,
          [thirdPartyTokenId, scope],
        )
        if (!row) return undefined
        const before = toRecord(row)
        const after = { ...before, ...change }
        // The user may have been deleted. This is only checked if the reference changes.
        if (after.organisationId !== before.organisationId || after.userId !== before.userId) await requireOwner(query, after)
        const [updated] = await query<{ update_time: Date }>(
          `update third_party_token set organisation_id = $2, service_name = $3, called_by = $4, username = $5, sealed_token = $6,
             auth_url = $7, sealed_other_data = $8, expire_time = $9, user_id = $10, update_time = now()
           where third_party_token_id = $1 returning update_time`,
          [thirdPartyTokenId, ...toColumns(cipher, thirdPartyTokenId, after)],
        )
        return updated?.update_time
      }, signal),
    async delete({ thirdPartyTokenId, scope }, signal) {
      signal.throwIfAborted()
      const [row] = await db.query<{ delete_time: Date }>(
        `update third_party_token set delete_time = now(), sealed_token = null, sealed_other_data = null
         where third_party_token_id = $1 and delete_time is null and ($2::bigint is null or organisation_id = $2) returning delete_time`,
        [thirdPartyTokenId, scope],
      )
      return row?.delete_time
    },
  }
}

/** Throws ORGANISATION_NOT_FOUND, or USER_NOT_FOUND if the user is not in the organisation. */
async function requireOwner(query: Query, { organisationId, userId }: ThirdPartyTokenDetails): Promise<void> {
  const organisations = await query('select from organisation where organisation_id = $1', [organisationId])
  if (organisations.length === 0) throw notFound('organisation', organisationId)
  if (userId === '') return
  const users = await query('select from users where user_id = $1 and organisation_id = $2', [userId, organisationId])
  if (users.length === 0) throw notFound('user', userId)
}

/** Returns the binding of a sealed value to its row and column. */
export function toBinding(id: string, column: 'token' | 'other_data'): Buffer {
  return Buffer.from(`third party token ${id} ${column}`)
}

function toColumns(cipher: KeyCipher, id: string, details: ThirdPartyTokenDetails): unknown[] {
  return [
    details.organisationId,
    details.serviceName,
    details.calledBy,
    details.username,
    cipher.seal(Buffer.from(details.token), toBinding(id, 'token')),
    details.authUrl,
    cipher.seal(Buffer.from(details.otherDataJson), toBinding(id, 'other_data')),
    details.expireTime,
    details.userId || undefined,
  ]
}

function decryptRow(cipher: KeyCipher, row: TokenRow): ThirdPartyToken {
  const id = row.third_party_token_id
  return {
    thirdPartyTokenId: id,
    organisationId: row.organisation_id,
    serviceName: row.service_name,
    calledBy: row.called_by,
    username: row.username,
    token: cipher.open(row.sealed_token, toBinding(id, 'token')).toString('utf8'),
    authUrl: row.auth_url,
    otherDataJson: cipher.open(row.sealed_other_data, toBinding(id, 'other_data')).toString('utf8'),
    expireTime: row.expire_time ?? undefined,
    userId: row.user_id ?? '',
    createTime: row.create_time,
    updateTime: row.update_time,
  }
}
