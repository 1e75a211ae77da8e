import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** Contents of a TLS secret. */
export interface CertificateFiles {
  'tls.crt': string
  'tls.key': string
  'ca.crt': string
}

/** A CA. Its key is in a temporary folder until `discard`. */
export interface Authority {
  certificate: string
  /** Issues a certificate with this DNS name. */
  issue(name: string): Promise<CertificateFiles>
  discard(): Promise<void>
}

export async function createAuthority(): Promise<Authority> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-certificates-'))
  const openssl = (...args: string[]) => execute('openssl', args, { cwd: folder })
  const read = (name: string) => readFile(join(folder, name), 'utf8')
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  await openssl('req', '-x509', ...key, '-days', '2', '-subj', '/CN=platform', '-keyout', 'ca.key', '-out', 'ca.crt')
  const certificate = await read('ca.crt')
  return {
    certificate,
    async issue(name) {
      await writeFile(join(folder, 'ext'), `subjectAltName=DNS:${name}`)
      await openssl('req', ...key, '-subj', `/CN=${name}`, '-keyout', 'tls.key', '-out', 'tls.csr')
      const authority = ['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial']
      await openssl('x509', '-req', '-in', 'tls.csr', ...authority, '-days', '2', '-out', 'tls.crt', '-extfile', 'ext')
      return { 'tls.crt': await read('tls.crt'), 'tls.key': await read('tls.key'), 'ca.crt': certificate }
    },
    discard: () => rm(folder, { recursive: true }),
  }
}

/** Issues a certificate per name by one CA, whose key is then discarded. */
export async function issueCertificates(names: readonly string[]): Promise<Record<string, CertificateFiles>> {
  const authority = await createAuthority()
  try {
    const certificates: Record<string, CertificateFiles> = {}
    for (const name of names) certificates[name] = await authority.issue(name)
    return certificates
  } finally {
    await authority.discard()
  }
}
