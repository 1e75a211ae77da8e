import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Programs } from './programs.ts'
import { run } from './run.ts'

/** Signs by a key of cosign. `COSIGN_PASSWORD` contains the password of the key. */
export interface Signer {
  publicKey: string
  signImage: (reference: string, identity: string) => Promise<void>
  attest: (reference: string, type: 'cyclonedx' | 'slsaprovenance1', predicate: string) => Promise<void>
  /** Writes the signature of a file as a bundle of sigstore. */
  signFile: (file: string, bundle: string) => Promise<void>
}

/** Signatures are verified by the public key alone, without a transparency log. */
const OFFLINE = ['--yes', '--tlog-upload=false', '--use-signing-config=false']

/** Returns a signer, and writes the public key to `publicKey`. Throws if the key or its password is wrong. */
export async function createSigner({ cosign }: Programs, key: string, publicKey: string): Promise<Signer> {
  if (!existsSync(key)) throw new Error(`--sign-key ${key} does not exist: create a key with "cosign generate-key-pair"`)
  const env = { COSIGN_PASSWORD: process.env['COSIGN_PASSWORD'] ?? '' }
  await run(cosign, ['public-key', '--key', key, '--outfile', publicKey], env)
  chmodSync(publicKey, 0o644)
  const withKey = ['--key', key, ...OFFLINE]
  return {
    publicKey,
    signImage: async (reference, identity) => {
      await run(cosign, ['sign', ...withKey, '--recursive', `--sign-container-identity=${identity}`, reference], env)
    },
    attest: async (reference, type, predicate) => {
      await run(cosign, ['attest', ...withKey, '--type', type, '--predicate', predicate, reference], env)
    },
    signFile: async (file, bundle) => {
      await run(cosign, ['sign-blob', ...withKey, '--bundle', bundle, file], env)
      chmodSync(bundle, 0o644)
    },
  }
}

/** Copies an artefact with its signatures from a registry on loopback to an OCI layout. */
export async function saveLayout({ oras }: Programs, reference: string, folder: string, tag: string): Promise<void> {
  await run(oras, ['copy', '--recursive', '--no-tty', '--from-plain-http', reference, '--to-oci-layout', `${folder}:${tag}`])
}

/** Returns the folder of the OCI layout of an artefact. */
export function layoutFolder(out: string, name: string): string {
  return join(out, 'oci', name)
}
