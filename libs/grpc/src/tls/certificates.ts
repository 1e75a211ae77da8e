import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'

/** What a process shows of itself and whom it believes, as PEM. */
export interface Certificates {
  cert: Buffer
  key: Buffer
  ca: Buffer
  /** When the certificate, or the first of the authorities, ends. */
  notAfter: Date
}

/** Reads `tls.crt`, `tls.key` and `ca.crt` of a folder; throws where they are not there, are not whole, or do not fit each other. */
export function readCertificates(folder: string): Certificates {
  const [cert, key, ca] = ['tls.crt', 'tls.key', 'ca.crt'].map((name) => readFileSync(join(folder, name))) as [Buffer, Buffer, Buffer]
  const authorities = certificatesOf(ca, 'ca.crt')
  const [own] = certificatesOf(cert, 'tls.crt')
  // Refuses a key of another certificate, and what is no key.
  createSecureContext({ cert, key, ca })
  // An authority that has ended may still stand beside the one that came after it.
  const latest = Math.max(...authorities.map((authority) => authority.validToDate.getTime()))
  return { cert, key, ca, notAfter: new Date(Math.min(latest, own?.validToDate.getTime() ?? 0)) }
}

/** Why a certificate is of no use at this moment; undefined where it is. */
export function whyNotNow({ cert, notAfter }: Certificates, now: Date): string | undefined {
  if (notAfter <= now) return `it ended ${notAfter.toISOString()}`
  const begin = new X509Certificate(cert).validFromDate
  return begin > now ? `it begins ${begin.toISOString()}` : undefined
}

function certificatesOf(pem: Buffer, name: string): X509Certificate[] {
  const blocks = pem.toString('latin1').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) throw new Error(`${name} holds no certificate`)
  return blocks.map((block) => new X509Certificate(block))
}
