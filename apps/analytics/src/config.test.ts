import { expect, test } from '@jest/globals'
import { readDatabaseConfig } from '@vitascope/config'
import { readConfig } from './config.ts'

const env = {
  VITASCOPE_ANALYTICS_DATABASE_URL: 'postgres://u:p@127.0.0.1/vitascope',
  VITASCOPE_SIGNING_KEY_FILE: '/keys/signing-key',
  VITASCOPE_PUBLIC_KEYS_DIR: '/keys/public',
  VITASCOPE_CATALOGUE_ADDRESS: '127.0.0.1:2',
}

test('every missing or invalid setting is reported at once', () => {
  expect(readConfig(env)).toMatchObject({ listen: '127.0.0.1:0', spool: undefined, retentionDays: 90, catalogueAddress: '127.0.0.1:2' })
  expect(readConfig({ ...env, VITASCOPE_ANALYTICS_SPOOL_DIR: '/s' }).spool).toEqual({ folder: '/s', maxBytes: 268_435_456 })
  const problems = () => readConfig({ VITASCOPE_ANALYTICS_LISTEN: 'nowhere', VITASCOPE_ANALYTICS_RETENTION_DAYS: '1' })
  for (const name of ['ANALYTICS_LISTEN', 'ANALYTICS_RETENTION_DAYS', ...Object.keys(env).map((one) => one.slice('VITASCOPE_'.length))]) {
    expect(problems).toThrow(`VITASCOPE_${name}`)
  }
})

test('migrations and the comparison require only the database URL', () => {
  const { VITASCOPE_ANALYTICS_DATABASE_URL: databaseUrl } = env
  expect(readDatabaseConfig({ VITASCOPE_ANALYTICS_DATABASE_URL: databaseUrl }, 'ANALYTICS')).toEqual({ databaseUrl })
  expect(() => readDatabaseConfig({ VITASCOPE_ANALYTICS_DATABASE_URL: 'mysql://x' }, 'ANALYTICS')).toThrow(
    'VITASCOPE_ANALYTICS_DATABASE_URL',
  )
})
