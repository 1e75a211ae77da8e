import { expect, test } from '@jest/globals'
import { readDatabaseConfig } from '@vitascope/config'
import { readConfig } from './config.ts'

const env = {
  VITASCOPE_COLLABORATION_DATABASE_URL: 'postgres://u:p@127.0.0.1/vitascope',
  VITASCOPE_SIGNING_KEY_FILE: '/keys/signing-key',
  VITASCOPE_PUBLIC_KEYS_DIR: '/keys/public',
  VITASCOPE_AUTH_ADDRESS: '127.0.0.1:1',
  VITASCOPE_CATALOGUE_ADDRESS: '127.0.0.1:2',
}

test('every missing or invalid setting is reported at once', () => {
  expect(readConfig({ ...env, VITASCOPE_COLLABORATION_METRICS_LISTEN: '[::1]:9' })).toMatchObject({
    listen: '127.0.0.1:0',
    metricsListen: '[::1]:9',
    databaseUrl: env.VITASCOPE_COLLABORATION_DATABASE_URL,
    catalogueAddress: '127.0.0.1:2',
  })
  const problems = () => readConfig({ VITASCOPE_COLLABORATION_LISTEN: 'nowhere' })
  for (const name of ['COLLABORATION_LISTEN', ...Object.keys(env).map((one) => one.slice('VITASCOPE_'.length))]) {
    expect(problems).toThrow(`VITASCOPE_${name}`)
  }
})

test('migrations require only the database URL', () => {
  const { VITASCOPE_COLLABORATION_DATABASE_URL: databaseUrl } = env
  expect(readDatabaseConfig({ VITASCOPE_COLLABORATION_DATABASE_URL: databaseUrl }, 'COLLABORATION')).toEqual({ databaseUrl })
  expect(() => readDatabaseConfig({ VITASCOPE_COLLABORATION_DATABASE_URL: 'mysql://x' }, 'COLLABORATION')).toThrow(
    'VITASCOPE_COLLABORATION_DATABASE_URL',
  )
})
