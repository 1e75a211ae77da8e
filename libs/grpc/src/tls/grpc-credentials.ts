import {
  type ChannelCredentials,
  type ChannelOptions,
  credentials,
  experimental,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js'
import { createLogLimit, type Logger, type Metrics } from '@vitascope/telemetry'
import type { Certificates } from './certificates.ts'
import type { Identity, Peer } from './identity.ts'

/** Returns credentials for mutual TLS 1.3 that follow certificate changes. Without an identity, the server uses plain text. */
export function serverCredentials(identity: Identity | undefined): ServerCredentials {
  return identity ? new ChangingServerCredentials(identity) : ServerCredentials.createInsecure()
}

/**
 * Returns credentials for calls to a service. Its certificate must contain the name of the service, whatever its
 * address is.
 */
export function channelCredentials(peer: Peer | undefined): { credentials: ChannelCredentials; options: ChannelOptions } {
  if (!peer) return { credentials: credentials.createInsecure(), options: {} }
  const provider = certificateProvider(peer.identity)
  return {
    credentials: experimental.createCertificateProviderChannelCredentials(provider, provider),
    options: { 'grpc.ssl_target_name_override': peer.service },
  }
}

const REJECTION_LOG_MS = 60_000

/**
 * Returns interceptors that reject calls of services that are not allowed, before they read any part of the call. A log
 * line per minute and names has the names in the certificate of the caller, and its address.
 */
export function callerInterceptors(
  identity: Identity | undefined,
  { log, metrics }: { log: Logger; metrics: Metrics },
): ServerInterceptor[] {
  if (!identity || identity.isOpenToAll) return []
  const limitLog = createLogLimit(REJECTION_LOG_MS)
  const rejectedCalls = metrics.counter('vitascope_tls_rejected_calls_total', 'Rejected calls from services that may not call this one')
  const mayCall = cachePerConnection((call) => identity.mayCall(call.getAuthContext().sslPeerCertificate))
  return [
    (method, call) => {
      if (mayCall(call)) return new ServerInterceptingCall(call)
      const names = call.getAuthContext().sslPeerCertificate?.subjectaltname ?? ''
      limitLog(names, (calls) =>
        log.warn(
          { names, address: call.getPeer(), method: method.path, calls },
          'rejected calls: the certificate names no permitted caller',
        ),
      )
      return new ServerInterceptingCall(call, {
        start: (next) =>
          next({
            onReceiveMetadata: () => {
              rejectedCalls.inc()
              call.sendStatus({ code: status.PERMISSION_DENIED, details: 'this service does not accept the certificate of the caller' })
            },
          }),
      })
    },
  ]
}

/**
 * Caches the result of a check for each connection: a certificate cannot change during a connection, and reading it
 * costs as much as a small call. grpc-js does not expose the connection; if it cannot be found, each call is
 * checked.
 */
function cachePerConnection(check: (call: ServerInterceptingCallInterface) => boolean): typeof check {
  const verdicts = new WeakMap<object, boolean>()
  return (call) => {
    const connection = (call as { stream?: { session?: object } }).stream?.session
    if (connection === undefined) return check(call)
    const verdict = verdicts.get(connection) ?? check(call)
    verdicts.set(connection, verdict)
    return verdict
  }
}

/** Server credentials for changing certificates. Those of grpc-js do not allow setting the minimum TLS version. */
class ChangingServerCredentials extends ServerCredentials {
  constructor(identity: Identity) {
    super({ requestCert: true, rejectUnauthorized: true }, toSecureContextOptions(identity.current()))
    // The listener is never removed: the server lives as long as the process.
    identity.onChange((certificates) => this.updateSecureContextOptions(toSecureContextOptions(certificates)))
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other
  }
}

function toSecureContextOptions({ cert, key, ca }: Certificates) {
  return { cert, key, ca, minVersion: 'TLSv1.3' as const }
}

function certificateProvider(identity: Identity): experimental.CertificateProvider {
  const stops = new Map<unknown, () => void>()
  const follow = <U>(listener: (update: U) => void, select: (certificates: Certificates) => U) => {
    listener(select(identity.current()))
    stops.set(
      listener,
      identity.onChange((certificates) => listener(select(certificates))),
    )
  }
  const stop = (listener: unknown) => {
    stops.get(listener)?.()
    stops.delete(listener)
  }
  return {
    addCaCertificateListener: (listener) => follow(listener, ({ ca }) => ({ caCertificate: ca })),
    removeCaCertificateListener: stop,
    addIdentityCertificateListener: (listener) => follow(listener, ({ cert, key }) => ({ certificate: cert, privateKey: key })),
    removeIdentityCertificateListener: stop,
  }
}
