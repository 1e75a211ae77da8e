import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { readAuthConfig } from './config.ts'

const folder = mkdtempSync(join(tmpdir(), 'vitascope-auth-'))
afterAll(() => rmSync(folder, { recursive: true }))
writeFileSync(join(folder, 'master'), `${'m'.repeat(44)}\n`)
writeFileSync(join(folder, 'short'), 'm')
const env = {
  VITASCOPE_AUTH_DATABASE_URL: 'postgres://a@b/c',
  VITASCOPE_SIGNING_KEY_FILE: '/keys/signing-key',
  VITASCOPE_PUBLIC_KEYS_DIR: '/keys/public',
  VITASCOPE_MASTER_KEY_FILE: join(folder, 'master'),
  VITASCOPE_CATALOGUE_ADDRESS: '127.0.0.1:1',
  VITASCOPE_OF_ANOTHER_SERVICE: 'x',
}

test('the required settings are sufficient, and the others have defaults', () => {
  expect(readAuthConfig(env)).toEqual({
    listen: '127.0.0.1:0',
    metricsListen: '127.0.0.1:0',
    serve: { connectionGraceSeconds: 600, connectionSeconds: 120, healthListen: undefined, reflection: false },
    tls: undefined,
    databaseUrl: 'postgres://a@b/c',
    directDatabaseUrl: undefined,
    poolSize: 4,
    principalKeys: { signingKeyFile: '/keys/signing-key', publicKeysDir: '/keys/public' },
    masterKeyFile: join(folder, 'master'),
    systemKey: { value: undefined, file: undefined },
    catalogueAddress: '127.0.0.1:1',
    auditDays: 400,
  })
})

test('every invalid setting is reported at once, without secret values', () => {
  const invalid = {
    ...env,
    VITASCOPE_SYSTEM_KEY: 'too short',
    VITASCOPE_MASTER_KEY_FILE: join(folder, 'short'),
    VITASCOPE_AUTH_DATABASE_URL: '',
  }
  expect(() => readAuthConfig(invalid)).toThrow(
    expect.objectContaining({
      problems: [
        'VITASCOPE_AUTH_DATABASE_URL is missing',
        'VITASCOPE_MASTER_KEY_FILE line 1: the secret must have 32 characters or more',
        'VITASCOPE_SYSTEM_KEY must have 20 to 128 characters of A-Z, a-z, 0-9, _ and -',
      ],
    }),
  )
})
