import { randomBytes } from 'node:crypto'
import { open, rename } from 'node:fs/promises'
import { ConfigError } from '@vitascope/config'
import type { Db, Outbox, Query, Transaction } from '@vitascope/postgres'
import type { Logger } from '@vitascope/telemetry'
import { conceal } from './api-key/api-key-store.ts'
import { type KeyBox, sameBytes } from './api-key/key-box.ts'
import { announceKeys } from './api-key/key-change.ts'
import { makeKeyValue } from './api-key/key-value.ts'
import { SYSTEM_ORGANISATION } from './organisation/organisation.ts'
import { announced, type OrganisationRow } from './organisation/organisation-store.ts'

/** Where the system key comes from. */
export interface SystemKeySource {
  /** The one that is to be. */
  value: string | undefined
  /** Where the first start writes the one that it makes. */
  file: string | undefined
}

interface InstallationRow {
  master_key_check: Buffer
  system_key_id: string | null
  configured_lookup: Buffer | null
}

/**
 * Makes what must be there before the first call: organisation 1, a system user and its key with every resource. At later starts it
 * applies a system key that is another than the one applied last. Replicas that start at once do it one after the other.
 */
export function ensureInstallation(options: { db: Db; outbox: Outbox; box: KeyBox; source: SystemKeySource; log: Logger }): Promise<void> {
  const { db, outbox, box, source, log } = options
  return db.transaction(async (tx) => {
    const { query } = tx
    await query(`select pg_advisory_xact_lock(hashtextextended('vitascope auth installation', 0))`)
    await ensureOrganisation(tx, outbox)
    const userId = await ensureSystemUser(query)

    const [installed] = await query<InstallationRow>('select master_key_check, system_key_id, configured_lookup from installation')
    if (installed && !sameBytes(installed.master_key_check, box.check)) {
      throw new ConfigError(['VITASCOPE_MASTER_KEY_FILE is not the master key that this database was first started with'])
    }
    const configured = source.value === undefined ? undefined : box.lookup(source.value)
    if (installed && (!configured || (installed.configured_lookup && sameBytes(installed.configured_lookup, configured)))) return

    const value = source.value ?? makeKeyValue()
    if (installed?.system_key_id) await removeKey(query, installed.system_key_id)
    const keyId = await insertSystemKey(query, box, userId, value)
    await query(
      `insert into installation (master_key_check, system_key_id, configured_lookup) values ($1, $2, $3)
       on conflict (only_row) do update set system_key_id = excluded.system_key_id, configured_lookup = excluded.configured_lookup`,
      [box.check, keyId, configured],
    )
    // Before the commit: a key that works is one that was written down.
    if (!configured) await writeKeyFile(source.file, value)
    tx.afterCommit(() => log.info({ api_key_id: keyId }, installed ? 'the system key was replaced' : 'the system key was made'))
  })
}

/** The look-up of the system key that was configured last, which may have any form. */
export async function readConfiguredLookup(db: Db): Promise<Buffer | undefined> {
  const [row] = await db.query<Pick<InstallationRow, 'configured_lookup'>>('select configured_lookup from installation')
  return row?.configured_lookup ?? undefined
}

async function ensureOrganisation(tx: Transaction, outbox: Outbox): Promise<void> {
  const made = await tx.query<OrganisationRow>(
    `insert into organisation (organisation_id, name) overriding system value values ($1, 'System') on conflict do nothing returning *`,
    [SYSTEM_ORGANISATION],
  )
  if (made.length > 0) await announced(tx, outbox, made)
}

async function ensureSystemUser(query: Query): Promise<string> {
  const [known] = await query<{ user_id: string }>(`select user_id from users where user_type = 'system' order by user_id limit 1`)
  if (known) return known.user_id
  const [made] = await query<{ user_id: string }>(
    `insert into users (organisation_id, first_name, last_name, email, user_type, status)
     values ($1, 'System', 'User', 'system@localhost', 'system', 'active') returning user_id`,
    [SYSTEM_ORGANISATION],
  )
  return made?.user_id ?? ''
}

async function removeKey(query: Query, apiKeyId: string): Promise<void> {
  await announceKeys(query, 'api_key_id = $1', [apiKeyId])
  await query('delete from api_key where api_key_id = $1', [apiKeyId])
}

async function insertSystemKey(query: Query, box: KeyBox, userId: string, value: string): Promise<string> {
  const { lookup, sealed } = conceal(box, value)
  const [row] = await query<{ api_key_id: string }>(
    `insert into api_key (user_id, application_name, lookup, sealed_value, all_resources) values ($1, 'system key', $2, $3, true)
     on conflict (lookup) do nothing returning api_key_id`,
    [userId, lookup, sealed],
  )
  if (!row) throw new ConfigError(['VITASCOPE_SYSTEM_KEY is already the key of somebody else: choose another value'])
  await announceKeys(query, 'api_key_id = $1', [row.api_key_id])
  return row.api_key_id
}

/** Whole or not at all, and on the disk when it returns. */
async function writeKeyFile(file: string | undefined, value: string): Promise<void> {
  if (file === undefined) {
    throw new ConfigError([
      'VITASCOPE_NEW_SYSTEM_KEY_FILE is missing: the first start writes the system key there, or give VITASCOPE_SYSTEM_KEY or VITASCOPE_SYSTEM_KEY_FILE',
    ])
  }
  const beside = `${file}.${randomBytes(4).toString('hex')}`
  const handle = await open(beside, 'wx', 0o600)
  try {
    await handle.writeFile(`${value}\n`)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(beside, file)
}
