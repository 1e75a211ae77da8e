import type { PeerCertificate } from 'node:tls'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { type Certificates, readCertificates, whyNotNow } from './certificates.ts'

/** What a process is told of TLS inside the house. */
export interface TlsSettings {
  /** Holds `tls.crt`, `tls.key` and `ca.crt`, PEM. */
  folder: string
  /** Names of those who may call, as their certificates have them (DNS); none: everybody with a certificate of the authority. */
  callers: readonly string[]
}

/** Who this process is to the others of the house, and whom it believes; follows its files while it runs. */
export interface Identity {
  /** The certificates of this moment. */
  current(): Certificates
  /** Told of each change after it; answers how to hear no more. */
  onChange(listener: (certificates: Certificates) => void): () => void
  /** Whether the holder of a certificate may call this process. */
  mayCall(certificate: PeerCertificate | undefined): boolean
  /** Whether everybody with a certificate of the authority may call. */
  readonly isOpenToAll: boolean
  /** The other side of calls to a service, which must show that name (DNS) in its certificate. */
  peer(service: string): Peer
  /** Looks at its files no more. */
  close(): void
}

/** A service of the house as its callers see it. */
export interface Peer {
  service: string
  identity: Identity
}

/** Mounted secrets change within a minute or so; the files are small. */
const LOOK_EVERY_MS = 5_000

/**
 * Reads the certificates and looks every 5 s whether they changed. What is half written, does not fit, has ended or has not begun is not
 * taken: the ones before stay, and the log and `vitascope_tls_refused_changes_total` tell. Throws where there is nothing to begin with.
 * Undefined without settings: everything is plain text then.
 */
export function openIdentity(
  settings: TlsSettings | undefined,
  { log, metrics, everyMs = LOOK_EVERY_MS }: { log: Logger; metrics: Metrics; everyMs?: number },
): Identity | undefined {
  if (settings === undefined) return undefined
  const { folder, callers } = settings
  let current = readFirst(folder)
  let told: string | undefined
  const listeners = new Set<(certificates: Certificates) => void>()
  const changes = metrics.counter('vitascope_tls_changes_total', 'Times that new certificates were taken')
  const refused = metrics.counter('vitascope_tls_refused_changes_total', 'Times that new certificates were not of use, and not taken')
  metrics
    .gauge('vitascope_tls_not_after_seconds', 'When the certificate in use, or its authority, ends (Unix time)', [], (gauge) =>
      gauge.set(current.notAfter.getTime() / 1_000),
    )
    .set(current.notAfter.getTime() / 1_000)

  /** Once for each problem, not every five seconds. */
  const tell = (problem: string | undefined, count: boolean) => {
    if (problem !== undefined && problem !== told) {
      log.error({ folder, not_after: current.notAfter }, problem)
      if (count) refused.inc()
    }
    told = problem
  }
  const look = () => {
    const { found, problem } = readNew(folder, current)
    if (problem !== undefined) {
      tell(problem, true)
      return
    }
    const late = whyNotNow(found, new Date())
    if (found === current) tell(late && `the certificate is of no use: ${late}`, false)
    else if (late !== undefined) tell(`new certificates were not taken: ${late}`, true)
    else {
      current = found
      told = undefined
      changes.inc()
      log.info({ not_after: current.notAfter }, 'new certificates were taken')
      for (const listener of listeners) listener(current)
    }
  }
  look()
  const timer = setInterval(look, everyMs)
  timer.unref()

  const identity: Identity = {
    current: () => current,
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    isOpenToAll: callers.length === 0,
    mayCall: (certificate) => certificate?.raw !== undefined && (callers.length === 0 || hasName(certificate, callers)),
    peer: (service) => ({ service, identity }),
    close: () => clearInterval(timer),
  }
  return identity
}

function readFirst(folder: string): Certificates {
  try {
    return readCertificates(folder)
  } catch (cause) {
    throw new Error(`VITASCOPE_TLS_DIR: the certificates of ${folder} cannot be used: ${(cause as Error).message}`, { cause })
  }
}

/** The certificates of the folder; the very same object where nothing changed. */
function readNew(
  folder: string,
  current: Certificates,
): { found: Certificates; problem?: undefined } | { found?: undefined; problem: string } {
  try {
    const found = readCertificates(folder)
    const isSame = (['cert', 'key', 'ca'] as const).every((part) => found[part].equals(current[part]))
    return { found: isSame ? current : found }
  } catch (error) {
    return { problem: `new certificates were not taken: ${(error as Error).message}` }
  }
}

/** Exactly one of the names stands among the DNS names of the certificate; no wildcard counts. */
function hasName({ subjectaltname = '' }: PeerCertificate, names: readonly string[]): boolean {
  return subjectaltname.split(', ').some((entry) => entry.startsWith('DNS:') && names.includes(entry.slice('DNS:'.length)))
}
