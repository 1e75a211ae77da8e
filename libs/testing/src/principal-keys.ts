import { createHash, createPrivateKey, createPublicKey } from 'node:crypto'
import { join } from 'node:path'
import { openPrincipalKeys, type PrincipalKeySettings, type PrincipalKeys } from '@vitascope/grpc'
import { createMetrics } from '@vitascope/telemetry'
import { TEST_KEYS, writeOnce } from './test-keys.ts'
import { testLog } from './test-log.ts'

/** The services of the platform, and `test` for other callers. */
export const SIGNERS = ['gateway', 'auth', 'catalogue', 'encoding', 'worker', 'delivery', 'collaboration', 'analytics', 'test']

/** Writes the test keys of all signers if they do not exist. Returns the settings of a service: its signing key, and the public keys. */
export function testKeyFiles(service: string): PrincipalKeySettings {
  for (const signer of SIGNERS) {
    const key = testSigningKey(signer)
    writeOnce(join(TEST_KEYS, 'signing', `${signer}.key`), key)
    writeOnce(join(TEST_KEYS, 'public', `${signer}.pub`), toPublicKey(key))
  }
  return { signingKeyFile: join(TEST_KEYS, 'signing', `${service}.key`), publicKeysDir: join(TEST_KEYS, 'public') }
}

/** Returns the same settings as environment variables. */
export function testKeyEnvironment(service: string): Record<string, string> {
  const { signingKeyFile, publicKeysDir } = testKeyFiles(service)
  return { VITASCOPE_SIGNING_KEY_FILE: signingKeyFile, VITASCOPE_PUBLIC_KEYS_DIR: `${publicKeysDir}` }
}

/**
 * Returns keys that sign each principal with the key of the service that may sign for it: the gateway for users and
 * guests. They verify tokens for `service`, or for any service if it is not set. With `caller`, all service calls are
 * signed by that service.
 */
export function testPrincipals(service?: string, caller?: string): PrincipalKeys {
  return {
    service: service ?? 'test',
    sign(principal, audience) {
      if (principal.kind !== 'service') return openKeys('gateway').sign(principal, audience)
      const signer = caller ?? principal.service
      return openKeys(signer).sign({ kind: 'service', service: signer }, audience)
    },
    verify: (token) => Promise.any((service === undefined ? SIGNERS : [service]).map((audience) => openKeys(audience).verify(token))),
    close: () => {},
  }
}

const opened = new Map<string, PrincipalKeys>()

function openKeys(service: string): PrincipalKeys {
  const keys = opened.get(service) ?? openPrincipalKeys(service, testKeyFiles(service), { log: testLog, metrics: createMetrics('test') })
  opened.set(service, keys)
  return keys
}

/** Returns an Ed25519 key in PEM (PKCS #8, RFC 8410) whose seed is the hash of a text. */
export function testSigningKey(text: string): string {
  const seed = createHash('sha256').update(`vitascope test key ${text}`).digest()
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ format: 'pem', type: 'pkcs8' }).toString()
}

/** Returns the public key in PEM. */
export function toPublicKey(signingKey: string): string {
  return createPublicKey(signingKey).export({ format: 'pem', type: 'spki' }).toString()
}
