import { masterKeyFile, testTokenKeys } from '@vitascope/testing'
import { testKeyFiles } from '@vitascope/testing/principal-keys'
import type { CatalogueConfig } from '../src/config.ts'

/** Returns the settings of a service under test. `more` has the addresses of its database and of the other services. */
export function serviceConfig(
  more: Pick<CatalogueConfig, 'databaseUrl' | 'encodingAddress' | 'authAddress'> & Partial<CatalogueConfig>,
): CatalogueConfig {
  return {
    listen: '127.0.0.1:0',
    metricsListen: '127.0.0.1:0',
    principalKeys: testKeyFiles('catalogue'),
    masterKeyFile: masterKeyFile('a master key of these tests, long enough'),
    tokenKeysFile: testTokenKeys().tokenKeysFile,
    sourceAllow: [],
    uploadsPerOrganisation: 100,
    mail: { smtpUrl: undefined, folder: undefined, from: { email: 'no-reply@localhost', name: '' } },
    publicUrl: 'http://localhost:8080',
    reconcile: { everyMs: 100, staleSeconds: 30, resultSeconds: 600 },
    ...more,
  }
}
