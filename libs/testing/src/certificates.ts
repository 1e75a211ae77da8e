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

/** What a folder of certificates holds, PEM. */
export interface CertificateFiles {
  'tls.crt': string
  'tls.key': string
  'ca.crt': string
}

/** When a certificate holds, as seconds from now; an hour each way by default. */
export interface Validity {
  fromSeconds?: number
  toSeconds?: number
}

/** An authority of a test. */
export interface TestAuthority {
  /** PEM. */
  certificate: string
  /** A certificate with these DNS names, for both ends of a connection, and the key that it is for. */
  issue(names: readonly string[], validity?: Validity): Promise<CertificateFiles>
}

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const HOUR = 3_600

export async function createTestAuthority(name = 'test authority', validity: Validity = {}): Promise<TestAuthority> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    serialNumber: serial(),
    name: `CN=${name}`,
    ...times(validity),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [new BasicConstraintsExtension(true, 0, true), new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true)],
  })
  const pem = pemOf(certificate)
  return {
    certificate: pem,
    async issue(names, own = {}) {
      const leaf = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
      const issued = await X509CertificateGenerator.create({
        serialNumber: serial(),
        subject: `CN=${names[0] ?? 'nobody'}`,
        issuer: certificate.subject,
        ...times(own),
        publicKey: leaf.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: ALGORITHM,
        extensions: [
          new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
          ...(names.length > 0 ? [new SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns' as const, value })))] : []),
        ],
      })
      const key = PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', leaf.privateKey), PemConverter.PrivateKeyTag)
      return { 'tls.crt': pemOf(issued), 'tls.key': `${key}\n`, 'ca.crt': pem }
    },
  }
}

/** A folder as Kubernetes mounts a secret: all files change at once, by a link. */
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

function times({ fromSeconds = -HOUR, toSeconds = HOUR }: Validity) {
  return { notBefore: new Date(Date.now() + fromSeconds * 1_000), notAfter: new Date(Date.now() + toSeconds * 1_000) }
}

function pemOf(certificate: X509Certificate): string {
  return `${certificate.toString('pem')}\n`
}

function serial(): string {
  // Positive, whatever its first bit would say.
  return `01${randomBytes(15).toString('hex')}`
}
