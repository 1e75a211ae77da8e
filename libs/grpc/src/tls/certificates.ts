import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'

/** Certificate and key of a process, and the authorities that it trusts, as PEM. */
export interface Certificates {
  cert: Buffer
  key: Buffer
  ca: Buffer
  /** Expiry of the certificate or of the authorities, whichever is first. */
  notAfter: Date
}

/**
 * Reads `tls.crt`, `tls.key` and `ca.crt` of a folder. Throws if one is missing, malformed, or does not match the
 * others.
 */
export function readCertificates(folder: string): Certificates {
  const [cert, key, ca] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) => readFileSync(join(folder, name))) as [Buffer, Buffer, Buffer]
  const authorities = parseCertificates(ca, 'ca.crt')
  const [certificate] = parseCertificates(cert, 'tls.crt')
  // Throws for a malformed key and for a key of another certificate.
  createSecureContext({ cert, key, ca })
  // The file may contain an expired authority together with its successor.
  const latest = Math.max(...authorities.map((authority) => authority.validToDate.getTime()))
  return { cert, key, ca, notAfter: new Date(Math.min(latest, certificate?.validToDate.getTime() ?? 0)) }
}

/** Returns why a certificate is not valid at this time, or undefined if it is valid. */
export function findInvalidity({ cert, notAfter }: Certificates, now: Date): string | undefined {
  if (notAfter <= now) return `it ended ${notAfter.toISOString()}`
  const begin = new X509Certificate(cert).validFromDate
  return begin > now ? `it begins ${begin.toISOString()}` : undefined
}

function parseCertificates(pem: Buffer, name: string): X509Certificate[] {
  const blocks = pem.toString('latin1').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) throw new Error(`${name} contains no certificate`)
  return blocks.map((block) => new X509Certificate(block))
}
