import {
  type ClientRequest,
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type RequestListener,
  type RequestOptions,
  request,
  type ServerOptions,
} from 'node:http'
import { createServer as createSecureServer, Agent as HttpsAgent, request as secureRequest } from 'node:https'
import type { Duplex } from 'node:stream'
import { checkServerIdentity, type PeerCertificate, type SecureContextOptions, type TLSSocket } from 'node:tls'
import type { Identity, Peer } from './identity.ts'

/**
 * Creates an HTTP server for calls between services. With an identity it requires mutual TLS 1.3 and `mayCall` for
 * every connection, and follows certificate changes until it is closed. Without one it uses plain text.
 */
export function createPlatformServer(identity: Identity | undefined, options: ServerOptions, listener: RequestListener): HttpServer {
  if (!identity) return createServer(options, listener)
  const toSecureContextOptions = ({ cert, key, ca } = identity.current()): SecureContextOptions => ({
    cert,
    key,
    ca,
    minVersion: 'TLSv1.3',
  })
  const server = createSecureServer({ ...options, ...toSecureContextOptions(), requestCert: true, rejectUnauthorized: true }, listener)
  server.on('secureConnection', (socket: TLSSocket) => {
    if (!identity.mayCall(socket.getPeerCertificate())) socket.destroy()
  })
  const stop = identity.onChange((certificates) => {
    server.setSecureContext(toSecureContextOptions(certificates))
    server.closeIdleConnections()
  })
  server.once('close', stop)
  return server
}

/** A service that is called over HTTP. */
export interface HttpService {
  /** Origin without a trailing slash. */
  origin: string
  /** Agent that creates the connections. Undefined for the default agent of Node, which uses plain text. */
  agent: HttpsAgent | undefined
}

/** Age after which a connection is not used for a further request, so that requests reach new replicas. */
const MAX_CONNECTION_MS = 60_000
/** Idle connections to a service. Further ones are closed after their request. */
const MAX_IDLE_CONNECTIONS = 64

/**
 * Returns the service at an origin. With a peer it requires mutual TLS, and the certificate must contain the name of
 * the service. By default each request to a peer has its own connection, so that no request uses a connection that is
 * being closed. With `keepAlive`, connections are reused until they are a minute old or the certificates change, because
 * a TLS handshake takes some 6 ms of CPU. The caller then repeats a request that failed with `reusedSocket` set, because
 * the service may close an idle connection at any time. Without a peer, Node's default agent reuses idle connections.
 */
export function httpService(origin: string, peer: Peer | undefined, { keepAlive = false } = {}): HttpService {
  return { origin, agent: peer && new PlatformAgent(peer, keepAlive) }
}

/** Sends a request to a service. */
export function platformRequest(
  { origin, agent }: HttpService,
  path: string,
  options: RequestOptions,
  listener: (response: IncomingMessage) => void,
): ClientRequest {
  const url = `${origin}${path}`
  return agent ? secureRequest(url, { ...options, agent }, listener) : request(url, options, listener)
}

class PlatformAgent extends HttpsAgent {
  readonly #peer: Peer
  /** Time at which each connection was created. Connections from before the last change of certificates are not in it. */
  #connectedAt = new WeakMap<Duplex, number>()

  constructor(peer: Peer, keepAlive: boolean) {
    // A resumed TLS session would skip the certificate check.
    super({ keepAlive, maxFreeSockets: MAX_IDLE_CONNECTIONS, maxCachedSessions: 0 })
    this.#peer = peer
    // The agent lives as long as the process, so the listener is never removed.
    if (keepAlive) peer.identity.onChange(() => this.#dropConnections())
  }

  override createConnection(
    ...[options, callback]: Parameters<HttpsAgent['createConnection']>
  ): ReturnType<HttpsAgent['createConnection']> {
    const { service, identity } = this.#peer
    const { cert, key, ca } = identity.current()
    const checkName = (_host: string, certificate: PeerCertificate) => checkServerIdentity(service, certificate)
    const tlsOptions = { cert, key, ca, minVersion: 'TLSv1.3' as const, servername: service, checkServerIdentity: checkName }
    const socket = super.createConnection({ ...options, ...tlsOptions }, callback)
    if (socket) this.#connectedAt.set(socket, performance.now())
    return socket
  }

  /** Returns whether a connection whose request has ended can serve another request. */
  override keepSocketAlive(socket: Duplex): boolean {
    const connectedAt = this.#connectedAt.get(socket)
    if (connectedAt === undefined || performance.now() - connectedAt > MAX_CONNECTION_MS) return false
    // The declared type of the method lacks its result.
    return super.keepSocketAlive(socket) as unknown as boolean
  }

  #dropConnections(): void {
    this.#connectedAt = new WeakMap()
    for (const sockets of Object.values(this.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
  }
}
