import { type Db, rewriteRows } from '@vitascope/postgres'
import { createSeal, type MasterKeys, RESPONSE_CONTEXT } from '@vitascope/security'
import { createSecretCipher } from './notification/webhook/webhook-secret.ts'
import { RESPONSE_PURPOSE } from './rules/sealed-codec.ts'

/** Number of rows that were re-encrypted, and of rows that no master key decrypts. */
export interface ReencryptResult {
  table: string
  rewritten: number
  failed: number
}

/** Returns the SQL condition for rows that are not encrypted with the first master key, whose prefix is `$3`. */
const usesOldKey = (column: string) => `substring(${column} from 1 for length($3::bytea)) <> $3::bytea`

/** Encrypts all secrets of the catalogue with the first master key. Services can run meanwhile. */
export async function reencryptCatalogue(
  { db, keys }: { db: Db; keys: MasterKeys },
  onTable: (result: ReencryptResult) => void = () => {},
): Promise<{ isComplete: boolean; problem?: string }> {
  const tables = [await reencryptWebhooks(db, keys), await reencryptResponses(db, keys)]
  for (const table of tables) onTable(table)
  if (tables.some(({ failed }) => failed > 0)) {
    return { isComplete: false, problem: 'no master key in the file decrypts some of the values: add the key that encrypted them' }
  }
  return { isComplete: true }
}

async function reencryptWebhooks(db: Db, keys: MasterKeys): Promise<ReencryptResult> {
  const cipher = createSecretCipher(keys)
  const counts = await rewriteRows<{ webhook_id: string; secret: Buffer; old_secret: Buffer | null }>(db, {
    select: `select webhook_id, secret, old_secret from webhook where webhook_id > $1 and (${usesOldKey('secret')} or ${usesOldKey('old_secret')})
      order by webhook_id limit $2 for update`,
    getKey: (row) => row.webhook_id,
    start: '0',
    parameters: [cipher.prefix()],
    async rewrite(query, { webhook_id, secret, old_secret }) {
      const reencrypted = undefinedOnError(() =>
        [secret, old_secret].map((sealed) => sealed && cipher.seal(cipher.open(sealed, webhook_id), webhook_id)),
      )
      if (!reencrypted) return false
      await query('update webhook set secret = $2, old_secret = $3 where webhook_id = $1', [webhook_id, ...reencrypted])
      return true
    },
  })
  return { table: 'webhook', ...counts }
}

/**
 * Re-encrypts stored responses that contain a secret and are less than 24 hours old. Responses in
 * other formats start with other bytes.
 */
async function reencryptResponses(db: Db, keys: MasterKeys): Promise<ReencryptResult> {
  const seal = createSeal(keys, RESPONSE_PURPOSE)
  const counts = await rewriteRows<{ key: string; response: Buffer }>(db, {
    select: `select key, response from idempotency where key > $1 and substring(response from 1 for 1) in ('\\x01', '\\x02') and ${usesOldKey('response')}
      and create_time > now() - interval '24 hours' order by key limit $2 for update`,
    getKey: (row) => row.key,
    start: '',
    parameters: [seal.prefix()],
    async rewrite(query, { key, response }) {
      const reencrypted = undefinedOnError(() => seal.seal(seal.open(response, RESPONSE_CONTEXT), RESPONSE_CONTEXT))
      if (!reencrypted) return false
      await query('update idempotency set response = $2 where key = $1', [key, reencrypted])
      return true
    },
  })
  return { table: 'idempotency', ...counts }
}

function undefinedOnError<T>(open: () => T): T | undefined {
  try {
    return open()
  } catch {
    return undefined
  }
}
