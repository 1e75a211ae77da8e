import type { PeerCertificate } from 'node:tls'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { type Certificates, findInvalidity, readCertificates } from './certificates.ts'

/** Settings of TLS between services. */
export interface TlsSettings {
  /** Folder with `tls.crt`, `tls.key` and `ca.crt`, PEM. */
  folder: string
  /** DNS names in the certificates of services that may call this process. If the list is empty, every certificate of the authority is accepted. */
  callers: readonly string[]
}

/** TLS identity of this process and the certificates that it trusts. It is reloaded when its files change. */
export interface Identity {
  /** Returns the current certificates. */
  current(): Certificates
  /** Calls the listener for each later change. Returns a function that removes the listener. */
  onChange(listener: (certificates: Certificates) => void): () => void
  /** Returns whether the holder of a certificate may call this process. */
  mayCall(certificate: PeerCertificate | undefined): boolean
  /** Whether every certificate of the authority may call. */
  readonly isOpenToAll: boolean
  /** Returns a peer for calls to a service, whose certificate must contain this DNS name. */
  peer(service: string): Peer
  /** Stops polling the files. */
  close(): void
}

/** A service as seen by its clients. */
export interface Peer {
  service: string
  identity: Identity
}

/** Mounted secrets change within about a minute; the files are small. */
const POLL_MS = 5_000

/**
 * Reads the certificates and polls their files every 5 s. A change that is incomplete, inconsistent, expired or not
 * yet valid is rejected: the previous certificates stay in use, and the log and `vitascope_tls_rejected_changes_total`
 * report it. Throws if the first read fails. Returns undefined without settings, which means plain text.
 */
export function openIdentity(
  settings: TlsSettings | undefined,
  { log, metrics, pollMs = POLL_MS }: { log: Logger; metrics: Metrics; pollMs?: number },
): Identity | undefined {
  if (settings === undefined) return undefined
  const { folder, callers } = settings
  let current = readFirst(folder)
  let lastProblem: string | undefined
  const listeners = new Set<(certificates: Certificates) => void>()
  const changes = metrics.counter('vitascope_tls_changes_total', 'Reloads of changed certificates')
  const rejectedChanges = metrics.counter('vitascope_tls_rejected_changes_total', 'Changed certificates that were invalid and ignored')
  metrics
    .gauge(
      'vitascope_tls_not_after_timestamp_seconds',
      'Expiry of the certificate in use, or of its authority if that is earlier (Unix time)',
      [],
      (gauge) => gauge.set(current.notAfter.getTime() / 1_000),
    )
    .set(current.notAfter.getTime() / 1_000)

  /** Logs each problem once, not at every poll. */
  const logOnce = (problem: string | undefined, isRejection: boolean) => {
    if (problem !== undefined && problem !== lastProblem) {
      log.error({ folder, not_after: current.notAfter }, problem)
      if (isRejection) rejectedChanges.inc()
    }
    lastProblem = problem
  }
  const poll = () => {
    const { certificates, problem } = readNew(folder, current)
    if (problem !== undefined) {
      logOnce(problem, true)
      return
    }
    const invalidity = findInvalidity(certificates, new Date())
    if (certificates === current) logOnce(invalidity && `the certificate is invalid: ${invalidity}`, false)
    else if (invalidity !== undefined) logOnce(`new certificates were rejected: ${invalidity}`, true)
    else {
      current = certificates
      lastProblem = undefined
      changes.inc()
      log.info({ not_after: current.notAfter }, 'certificates reloaded')
      for (const listener of listeners) listener(current)
    }
  }
  poll()
  const timer = setInterval(poll, pollMs)
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

/** Returns the certificates of the folder, or the problem. If the files are unchanged, it returns `current`. */
function readNew(
  folder: string,
  current: Certificates,
): { certificates: Certificates; problem?: undefined } | { certificates?: undefined; problem: string } {
  try {
    const certificates = readCertificates(folder)
    const isSame = (['cert', 'key', 'ca'] as const).every((part) => certificates[part].equals(current[part]))
    return { certificates: isSame ? current : certificates }
  } catch (error) {
    return { problem: `new certificates were rejected: ${(error as Error).message}` }
  }
}

/** Returns whether the DNS names of a certificate contain one of the names exactly. Wildcards do not match. */
function hasName({ subjectaltname = '' }: PeerCertificate, names: readonly string[]): boolean {
  return subjectaltname.split(', ').some((entry) => entry.startsWith('DNS:') && names.includes(entry.slice('DNS:'.length)))
}
