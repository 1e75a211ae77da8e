import { makeTokenKeys, parseTokenKeys } from '@vitascope/access'
import type { CatalogueConfig } from '../src/config.ts'
import { testKey } from './stand-ins.ts'

/** Of a service of a test; where its database and neighbours are, `more` says. */
export function serviceConfig(
  more: Pick<CatalogueConfig, 'databaseUrl' | 'encodingAddress' | 'authAddress'> & Partial<CatalogueConfig>,
): CatalogueConfig {
  return {
    listen: '127.0.0.1:0',
    metricsListen: { host: '127.0.0.1', port: 0 },
    principalKey: testKey,
    masterKey: 'a master key of these tests',
    tokenKeys: parseTokenKeys(makeTokenKeys()),
    sourceAllow: [],
    mail: { smtpUrl: undefined, folder: undefined, from: { email: 'no-reply@localhost', name: '' } },
    publicUrl: 'http://localhost:8080',
    reconcile: { everyMs: 100, quietSeconds: 30, resultSeconds: 600 },
    ...more,
  }
}
