import { generateKeyPairSync } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The processes that call other services. */
export const SIGNERS = ['gateway', 'auth', 'catalogue', 'encoding', 'worker', 'collaboration', 'analytics', 'delivery'] as const

/** Paths of the keys with which the processes of one platform authenticate each other. */
export interface PrincipalKeyFiles {
  /** Path of the private key of a process. */
  signingKeyFile(service: string): string
  /** Folder of the public keys of all processes. */
  publicKeysDir: string
}

/**
 * Creates new Ed25519 keys for all processes, with mode 0600. Every start uses its own keys: all
 * processes start together and a signed call is valid for a minute, so no key must outlive a start.
 * Removes the key that older versions shared.
 */
export async function createPrincipalKeys(folder: string): Promise<PrincipalKeyFiles> {
  const [signingKeysDir, publicKeysDir] = [join(folder, 'signing-keys'), join(folder, 'public-keys')]
  await rm(join(folder, 'principal-key'), { force: true })
  for (const dir of [signingKeysDir, publicKeysDir]) {
    await rm(dir, { recursive: true, force: true })
    await mkdir(dir, { mode: 0o700 })
  }
  const signingKeyFile = (service: string) => join(signingKeysDir, `${service}.key`)
  for (const service of SIGNERS) {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    await writeFile(signingKeyFile(service), privateKey.export({ format: 'pem', type: 'pkcs8' }), { mode: 0o600 })
    await writeFile(join(publicKeysDir, `${service}.pub`), publicKey.export({ format: 'pem', type: 'spki' }), { mode: 0o600 })
  }
  return { signingKeyFile, publicKeysDir }
}
