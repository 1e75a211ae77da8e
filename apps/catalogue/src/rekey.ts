import { readFileSync } from 'node:fs'
import { ConfigError } from '@vitascope/config'
import { isDomainError } from '@vitascope/errors'
import { openPostgres } from '@vitascope/postgres'
import { fixedMasterKeys } from '@vitascope/security'
import { createLogger } from '@vitascope/telemetry'
import { readRekeyConfig } from './config.ts'
import { type ReencryptResult, reencryptCatalogue } from './reencrypt.ts'

// Command `node apps/catalogue/src/rekey.ts`: encrypts the catalogue's secrets with the first key
// of VITASCOPE_MASTER_KEY_FILE.
process.exitCode = await run()

async function run(): Promise<number> {
  try {
    const { databaseUrl, masterKeyFile } = readRekeyConfig(process.env)
    const db = openPostgres({
      url: databaseUrl,
      schema: 'catalogue',
      log: createLogger({ service: 'catalogue-rekey', level: 'fatal' }),
      poolSize: 1,
    })
    try {
      const { problem } = await reencryptCatalogue({ db, keys: fixedMasterKeys(readFileSync(masterKeyFile, 'utf8')) }, report)
      if (problem !== undefined) return fail(problem)
      process.stdout.write('catalogue: all secrets are encrypted with the first master key\n')
      return 0
    } finally {
      await db.close()
    }
  } catch (error) {
    if (error instanceof ConfigError || isDomainError(error)) return fail(error.message)
    throw error
  }
}

function report({ table, rewritten, failed }: ReencryptResult): void {
  process.stdout.write(`catalogue: ${table}: ${rewritten} rows re-encrypted${failed > 0 ? `, ${failed} rows that no key decrypts` : ''}\n`)
}

function fail(message: string): number {
  process.stderr.write(`catalogue: ${message}\n`)
  return 1
}
