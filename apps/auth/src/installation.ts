import { randomBytes } from 'node:crypto'
import { open, rename } from 'node:fs/promises'
import { ConfigError } from '@vitascope/config'
import type { Db, Outbox, Query, Transaction } from '@vitascope/postgres'
import type { Logger } from '@vitascope/telemetry'
import { encryptKeyValue } from './api-key/api-key-store.ts'
import { notifyKeyChange } from './key/key-change.ts'
import { type KeyCipher, sameBytes } from './key/key-encryption.ts'
import { makeKeyValue } from './key/key-value.ts'
import { SYSTEM_ORGANISATION } from './organisation/organisation.ts'
import { enqueueChange, type OrganisationRow } from './organisation/organisation-store.ts'

/** The source of the system key. */
export interface SystemKeySource {
  /** The configured key. */
  value: string | undefined
  /** The file to which the first start writes a generated key. */
  file: string | undefined
}

interface InstallationRow {
  master_key_check: Buffer
  system_key_id: string | null
  configured_lookup: Buffer | null
}

/**
 * Creates organisation 1, a system user and its key with all permissions, if they are missing.
 * Later starts replace the system key if another one is configured. Concurrent starts are
 * serialised. Throws `ConfigError`.
 */
export function ensureInstallation(options: {
  db: Db
  outbox: Outbox
  cipher: KeyCipher
  source: SystemKeySource
  log: Logger
}): Promise<void> {
  const { db, outbox, cipher, source, log } = options
  return db.transaction(async (tx) => {
    const { query } = tx
    await query(`select pg_advisory_xact_lock(hashtextextended('vitascope auth installation', 0))`)
    await ensureOrganisation(tx, outbox)
    const userId = await ensureSystemUser(query)

    const [installed] = await query<InstallationRow>('select master_key_check, system_key_id, configured_lookup from installation')
    if (installed && !cipher.checks().some((check) => sameBytes(check, installed.master_key_check))) {
      throw new ConfigError([
        'VITASCOPE_MASTER_KEY_FILE does not contain the master key of this database: add it, and remove it only after `npm run rekey` has ended',
      ])
    }
    const configured = source.value === undefined ? undefined : cipher.hash(source.value)
    if (installed && (source.value === undefined || matchesLookup(cipher, source.value, installed.configured_lookup))) return

    const value = source.value ?? makeKeyValue()
    if (installed?.system_key_id) await removeKey(query, installed.system_key_id)
    const keyId = await insertSystemKey(query, cipher, userId, value)
    await query(
      `insert into installation (master_key_check, system_key_id, configured_lookup) values ($1, $2, $3)
       on conflict (only_row) do update set system_key_id = excluded.system_key_id, configured_lookup = excluded.configured_lookup`,
      [cipher.check(), keyId, configured],
    )
    // The file is written before the commit, so that the value of a committed key is never lost.
    if (!configured) await writeKeyFile(source.file, value)
    tx.afterCommit(() => log.info({ api_key_id: keyId }, installed ? 'system key replaced' : 'system key created'))
  })
}

/** Returns whether a lookup hash is the hash of a value with one of the master keys. */
export function matchesLookup(cipher: KeyCipher, value: string, lookup: Buffer | null): boolean {
  return lookup !== null && cipher.lookups(value).some((candidate) => sameBytes(candidate, lookup))
}

/** Returns the lookup hash of the system key that was configured last. */
export async function readConfiguredLookup(db: Db): Promise<Buffer | undefined> {
  const [row] = await db.query<Pick<InstallationRow, 'configured_lookup'>>('select configured_lookup from installation')
  return row?.configured_lookup ?? undefined
}

async function ensureOrganisation(tx: Transaction, outbox: Outbox): Promise<void> {
  const rows = await tx.query<OrganisationRow>(
    `insert into organisation (organisation_id, name) overriding system value values ($1, 'System') on conflict do nothing returning *`,
    [SYSTEM_ORGANISATION],
  )
  if (rows.length > 0) await enqueueChange(tx, outbox, rows)
}

async function ensureSystemUser(query: Query): Promise<string> {
  const [existing] = await query<{ user_id: string }>(`select user_id from users where user_type = 'system' order by user_id limit 1`)
  if (existing) return existing.user_id
  const [created] = await query<{ user_id: string }>(
    `insert into users (organisation_id, first_name, last_name, email, user_type, status)
     values ($1, 'System', 'User', 'system@localhost', 'system', 'active') returning user_id`,
    [SYSTEM_ORGANISATION],
  )
  return created?.user_id ?? ''
}

async function removeKey(query: Query, apiKeyId: string): Promise<void> {
  await notifyKeyChange(query, 'api_key_id = $1', [apiKeyId])
  await query('delete from api_key where api_key_id = $1', [apiKeyId])
}

async function insertSystemKey(query: Query, cipher: KeyCipher, userId: string, value: string): Promise<string> {
  const { lookup, sealed } = encryptKeyValue(cipher, value)
  const [row] = await query<{ api_key_id: string }>(
    `insert into api_key (user_id, application_name, lookup, sealed_value, all_resources) values ($1, 'system key', $2, $3, true)
     on conflict (lookup) do nothing returning api_key_id`,
    [userId, lookup, sealed],
  )
  if (!row) throw new ConfigError(['VITASCOPE_SYSTEM_KEY is already the key of another user: choose another value'])
  await notifyKeyChange(query, 'api_key_id = $1', [row.api_key_id])
  return row.api_key_id
}

/** Writes the file atomically and syncs its contents before it returns. */
async function writeKeyFile(file: string | undefined, value: string): Promise<void> {
  if (file === undefined) {
    throw new ConfigError([
      'VITASCOPE_NEW_SYSTEM_KEY_FILE is missing: the first start writes the system key there; or set VITASCOPE_SYSTEM_KEY or VITASCOPE_SYSTEM_KEY_FILE',
    ])
  }
  const temporary = `${file}.${randomBytes(4).toString('hex')}`
  const handle = await open(temporary, 'wx', 0o600)
  try {
    await handle.writeFile(`${value}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(temporary, file)
}
