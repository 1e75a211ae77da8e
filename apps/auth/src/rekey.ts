import { readFileSync } from 'node:fs'
import { ConfigError } from '@vitascope/config'
import { isDomainError } from '@vitascope/errors'
import { openPostgres } from '@vitascope/postgres'
import { fixedMasterKeys } from '@vitascope/security'
import { createLogger } from '@vitascope/telemetry'
import { readRekeyConfig } from './config.ts'
import { createKeyCipher } from './key/key-encryption.ts'
import { type ReencryptedTable, reencryptAuth } from './reencrypt.ts'

// Command `node apps/auth/src/rekey.ts`: encrypts auth's secrets with the first key of
// VITASCOPE_MASTER_KEY_FILE.
process.exitCode = await run()

async function run(): Promise<number> {
  try {
    const { databaseUrl, masterKeyFile, systemKey } = readRekeyConfig(process.env)
    const db = openPostgres({ url: databaseUrl, schema: 'auth', log: createLogger({ service: 'auth-rekey', level: 'fatal' }), poolSize: 1 })
    try {
      const { problem } = await reencryptAuth(
        { db, cipher: createKeyCipher(fixedMasterKeys(readFileSync(masterKeyFile, 'utf8'))), systemKey },
        report,
      )
      if (problem !== undefined) return fail(problem)
      process.stdout.write('auth: all secrets are encrypted with the first master key\n')
      return 0
    } finally {
      await db.close()
    }
  } catch (error) {
    if (error instanceof ConfigError || isDomainError(error)) return fail(error.message)
    throw error
  }
}

function report({ table, rewritten, failed }: ReencryptedTable): void {
  process.stdout.write(`auth: ${table}: ${rewritten} rows re-encrypted${failed > 0 ? `, ${failed} rows that no key decrypts` : ''}\n`)
}

function fail(message: string): number {
  process.stderr.write(`auth: ${message}\n`)
  return 1
}
