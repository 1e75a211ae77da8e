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
import type { Metrics } from '@vitascope/telemetry'
import type { Certificates } from './certificates.ts'
import type { Identity, Peer } from './identity.ts'

/** Mutual TLS 1.3 with certificates that may change; plain text without an identity. */
export function serverCredentials(identity: Identity | undefined): ServerCredentials {
  return identity ? new ChangingServerCredentials(identity) : ServerCredentials.createInsecure()
}

/** The same for calls to a service, whose certificate must have its name whatever its address is. */
export function channelCredentials(peer: Peer | undefined): { credentials: ChannelCredentials; options: ChannelOptions } {
  if (!peer) return { credentials: credentials.createInsecure(), options: {} }
  const provider = certificateProvider(peer.identity)
  return {
    credentials: experimental.createCertificateProviderChannelCredentials(provider, provider),
    options: { 'grpc.ssl_target_name_override': peer.service },
  }
}

/** Refuses calls of those who may not call, before anything of the call is read. */
export function callerCheck(identity: Identity | undefined, metrics: Metrics): ServerInterceptor[] {
  if (!identity || identity.isOpenToAll) return []
  const refused = metrics.counter('vitascope_tls_refused_calls_total', 'Calls of services that may not call this one')
  const mayCall = oncePerConnection((call) => identity.mayCall(call.getAuthContext().sslPeerCertificate))
  return [
    (_method, call) => {
      if (mayCall(call)) return new ServerInterceptingCall(call)
      return new ServerInterceptingCall(call, {
        start: (next) =>
          next({
            onReceiveMetadata: () => {
              refused.inc()
              call.sendStatus({ code: status.PERMISSION_DENIED, details: 'this service is not for the caller’s certificate' })
            },
          }),
      })
    },
  ]
}

/**
 * A certificate does not change while its connection lasts, and reading it costs as much as a small call. grpc-js shows the connection to nobody:
 * where it cannot be seen, each call is looked at.
 */
function oncePerConnection(check: (call: ServerInterceptingCallInterface) => boolean): typeof check {
  const known = new WeakMap<object, boolean>()
  return (call) => {
    const connection = (call as { stream?: { session?: object } }).stream?.session
    if (connection === undefined) return check(call)
    const verdict = known.get(connection) ?? check(call)
    known.set(connection, verdict)
    return verdict
  }
}

/** grpc-js’s own for changing certificates does not say which TLS is the least. */
class ChangingServerCredentials extends ServerCredentials {
  constructor(identity: Identity) {
    super({ requestCert: true, rejectUnauthorized: true }, contextOf(identity.current()))
    // As long as the process: what it serves ends with it.
    identity.onChange((certificates) => this.updateSecureContextOptions(contextOf(certificates)))
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other
  }
}

function contextOf({ cert, key, ca }: Certificates) {
  return { cert, key, ca, minVersion: 'TLSv1.3' as const }
}

function certificateProvider(identity: Identity): experimental.CertificateProvider {
  const stops = new Map<unknown, () => void>()
  const follow = <U>(listener: (update: U) => void, take: (certificates: Certificates) => U) => {
    listener(take(identity.current()))
    stops.set(
      listener,
      identity.onChange((certificates) => listener(take(certificates))),
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
