import { join } from 'node:path'
import { openPrincipalKeys, type PrincipalKeys } from '@vitascope/grpc'
import { createMetrics } from '@vitascope/telemetry'
import { testLog } from '@vitascope/testing'

/**
 * Returns the keys of a process of a running platform, as an attacker could read them from its
 * files.
 */
export function platformKeys(dataDir: string, service: string): PrincipalKeys {
  const signingKeyFile = join(dataDir, 'secrets', 'signing-keys', `${service}.key`)
  return openPrincipalKeys(service, { signingKeyFile }, { log: testLog, metrics: createMetrics('test') })
}
