import 'reflect-metadata'
import { randomBytes, webcrypto } from 'node:crypto'
import { mkdir, mkdtemp, rename, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  type X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509'

/** Files of a certificate folder, in PEM. */
export interface CertificateFiles {
  'tls.crt': string
  'tls.key': string
  'ca.crt': string
}

/** Validity of a certificate in seconds from now. Default: one hour in both directions. */
export interface Validity {
  fromSeconds?: number
  toSeconds?: number
}

/** A certificate authority for tests. */
export interface TestAuthority {
  /** Certificate of the authority, PEM. */
  certificate: string
  /** Issues a certificate for clients and servers with these DNS names. Returns it with its key. */
  issue(names: readonly string[], validity?: Validity): Promise<CertificateFiles>
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const HOUR = 3_600

/** Creates an authority with a self-signed certificate. */
export async function createTestAuthority(name = 'test authority', validity: Validity = {}): Promise<TestAuthority> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: createSerialNumber(),
    name: `CN=${name}`,
    ...validityDates(validity),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [new BasicConstraintsExtension(true, 0, true), new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true)],
  })
  const pem = toPem(certificate)
  return {
    certificate: pem,
    async issue(names, leafValidity = {}) {
      const leaf = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
      const issued = await X509CertificateGenerator.create({
        serialNumber: createSerialNumber(),
        subject: `CN=${names[0] ?? 'nobody'}`,
        issuer: certificate.subject,
        ...validityDates(leafValidity),
        publicKey: leaf.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: ALGORITHM,
        extensions: [
          new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
          ...(names.length > 0 ? [new SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value })))] : []),
        ],
      })
      const key = PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', leaf.privateKey), PemConverter.PrivateKeyTag)
      return { 'tls.crt': toPem(issued), 'tls.key': `${key}\n`, 'ca.crt': pem }
    },
  }
}

/** Creates a folder like a mounted Kubernetes secret: all files are replaced at once through a symbolic link. */
export async function certificateFolder(
  files: CertificateFiles,
): Promise<{ folder: string; replace(files: CertificateFiles): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-certificates-'))
  const replace = async (next: CertificateFiles) => {
    const version = `..${randomBytes(6).toString('hex')}`
    await mkdir(join(folder, version))
    for (const [name, text] of Object.entries(next)) await writeFile(join(folder, version, name), text)
    await symlink(version, join(folder, '..next'))
    await rename(join(folder, '..next'), join(folder, '..data'))
  }
  await replace(files)
  for (const name of Object.keys(files)) {
    await symlink(join('..data', name), join(folder, name))
  }
  return { folder, replace }
}

function validityDates({ fromSeconds = -HOUR, toSeconds = HOUR }: Validity) {
  return { notBefore: new Date(Date.now() + fromSeconds * 1_000), notAfter: new Date(Date.now() + toSeconds * 1_000) }
}

function toPem(certificate: X509Certificate): string {
  return `${certificate.toString('pem')}\n`
}

function createSerialNumber(): string {
  // The prefix makes the number positive.
  return `01${randomBytes(15).toString('hex')}`
}
