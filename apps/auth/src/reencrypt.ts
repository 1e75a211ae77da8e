import { type Db, rewriteRows } from '@vitascope/postgres'
import { RESPONSE_CONTEXT } from '@vitascope/security'
import { encryptKeyValue } from './api-key/api-key-store.ts'
import { matchesLookup } from './installation.ts'
import type { KeyCipher } from './key/key-encryption.ts'
import { toBinding } from './third-party-token/third-party-token-store.ts'

/** Number of rows that were re-encrypted, and of rows that no master key decrypts. */
export interface ReencryptedTable {
  table: string
  rewritten: number
  failed: number
}

/** Returns the SQL condition for rows that are not encrypted with the first master key, whose prefix is `$3`. */
const usesOldKey = (column: string) => `substring(${column} from 1 for length($3::bytea)) <> $3::bytea`

/**
 * Encrypts all secrets of auth with the first master key, and recomputes the lookup hashes of API
 * keys. Services can run meanwhile. At the end no row uses another master key, and the other master
 * keys can be removed.
 */
export async function reencryptAuth(
  { db, cipher, systemKey }: { db: Db; cipher: KeyCipher; systemKey: string | undefined },
  onTable: (table: ReencryptedTable) => void = () => {},
): Promise<{ isComplete: boolean; problem?: string }> {
  const tables = [await reencryptApiKeys(db, cipher), await reencryptTokens(db, cipher), await reencryptStoredResponses(db, cipher)]
  for (const table of tables) onTable(table)
  if (tables.some(({ failed }) => failed > 0)) {
    return { isComplete: false, problem: 'no master key in the file decrypts some of the values: add the key that encrypted them' }
  }
  return (await rehashConfiguredKey(db, cipher, systemKey))
    ? await completeInstallation(db, cipher)
    : { isComplete: false, problem: SYSTEM_KEY_REQUIRED }
}

const SYSTEM_KEY_REQUIRED =
  'the lookup hash of the configured system key cannot be recomputed: set VITASCOPE_SYSTEM_KEY to the value that auth uses, then run this command again'

async function reencryptApiKeys(db: Db, cipher: KeyCipher): Promise<ReencryptedTable> {
  const counts = await rewriteRows<{ api_key_id: string; lookup: Buffer; sealed_value: Buffer }>(db, {
    select: `select api_key_id, lookup, sealed_value from api_key where api_key_id > $1 and ${usesOldKey('sealed_value')}
      order by api_key_id limit $2 for update`,
    getKey: (row) => row.api_key_id,
    start: '0',
    parameters: [cipher.prefix()],
    async rewrite(query, { api_key_id, lookup, sealed_value }) {
      const value = undefinedOnError(() => cipher.open(sealed_value, lookup))
      if (!value) return false
      const reencrypted = encryptKeyValue(cipher, value.toString('utf8'))
      await query('update api_key set lookup = $2, sealed_value = $3 where api_key_id = $1', [
        api_key_id,
        reencrypted.lookup,
        reencrypted.sealed,
      ])
      // The system key that was configured last is only stored as a lookup hash.
      await query('update installation set configured_lookup = $2 where configured_lookup = $1', [lookup, reencrypted.lookup])
      return true
    },
  })
  return { table: 'api_key', ...counts }
}

async function reencryptTokens(db: Db, cipher: KeyCipher): Promise<ReencryptedTable> {
  const counts = await rewriteRows<{ id: string; sealed_token: Buffer; sealed_other_data: Buffer }>(db, {
    select: `select third_party_token_id as id, sealed_token, sealed_other_data from third_party_token
      where third_party_token_id > $1 and (${usesOldKey('sealed_token')} or ${usesOldKey('sealed_other_data')})
      order by third_party_token_id limit $2 for update`,
    getKey: (row) => row.id,
    start: '0',
    parameters: [cipher.prefix()],
    async rewrite(query, { id, sealed_token, sealed_other_data }) {
      const [token, otherData] = [toBinding(id, 'token'), toBinding(id, 'other_data')]
      const reencrypted = undefinedOnError(() => [
        cipher.seal(cipher.open(sealed_token, token), token),
        cipher.seal(cipher.open(sealed_other_data, otherData), otherData),
      ])
      if (!reencrypted) return false
      await query('update third_party_token set sealed_token = $2, sealed_other_data = $3 where third_party_token_id = $1', [
        id,
        ...reencrypted,
      ])
      return true
    },
  })
  return { table: 'third_party_token', ...counts }
}

/** SQL condition for encrypted responses that can still be repeated. Other stored responses start with other bytes. */
const IS_STORED_SECRET = `substring(response from 1 for 1) in ('\\x01', '\\x02') and create_time > now() - interval '24 hours'`

/** Re-encrypts stored responses that contain a secret and are less than 24 hours old. */
async function reencryptStoredResponses(db: Db, cipher: KeyCipher): Promise<ReencryptedTable> {
  const counts = await rewriteRows<{ key: string; response: Buffer }>(db, {
    select: `select key, response from idempotency where key > $1 and ${IS_STORED_SECRET} and ${usesOldKey('response')}
      order by key limit $2 for update`,
    getKey: (row) => row.key,
    start: '',
    parameters: [cipher.prefix()],
    async rewrite(query, { key, response }) {
      const reencrypted = undefinedOnError(() => cipher.seal(cipher.open(response, RESPONSE_CONTEXT), RESPONSE_CONTEXT))
      if (!reencrypted) return false
      await query('update idempotency set response = $2 where key = $1', [key, reencrypted])
      return true
    },
  })
  return { table: 'idempotency', ...counts }
}

/**
 * Recomputes the lookup hash of the configured system key. If that key was deleted from the table of
 * keys, its value is required. Returns false if `systemKey` is not that value.
 */
async function rehashConfiguredKey(db: Db, cipher: KeyCipher, systemKey: string | undefined): Promise<boolean> {
  return db.transaction(async ({ query }) => {
    const [row] = await query<{ configured_lookup: Buffer; is_key: boolean }>(
      `select configured_lookup, exists (select from api_key where lookup = configured_lookup) as is_key from installation
       where configured_lookup is not null for update`,
    )
    if (!row || row.is_key) return true
    if (systemKey === undefined || !matchesLookup(cipher, systemKey, row.configured_lookup)) return false
    await query('update installation set configured_lookup = $1', [cipher.hash(systemKey)])
    return true
  })
}

async function completeInstallation(db: Db, cipher: KeyCipher): Promise<{ isComplete: boolean; problem?: string }> {
  const usesOldKeyCondition = (column: string) => usesOldKey(column).replaceAll('$3', '$1')
  const [remaining] = await db.query<{ rows: number }>(
    `select (select count(*) from api_key where ${usesOldKeyCondition('sealed_value')})::int
       + (select count(*) from third_party_token where ${usesOldKeyCondition('sealed_token')} or ${usesOldKeyCondition('sealed_other_data')})::int
       + (select count(*) from idempotency where ${IS_STORED_SECRET} and ${usesOldKeyCondition('response')})::int as rows`,
    [cipher.prefix()],
  )
  if (remaining?.rows !== 0)
    return {
      isComplete: false,
      problem: 'a service still encrypts with another key: let every service read this file, then run this command again',
    }
  await db.query('update installation set master_key_check = $1', [cipher.check()])
  return { isComplete: true }
}

function undefinedOnError<T>(open: () => T): T | undefined {
  try {
    return open()
  } catch {
    return undefined
  }
}
