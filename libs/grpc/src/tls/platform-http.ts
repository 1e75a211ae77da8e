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
import { checkServerIdentity, type PeerCertificate, type SecureContextOptions, type TLSSocket } from 'node:tls'
import type { Identity, Peer } from './identity.ts'

/**
 * Creates an HTTP server for calls between services. With an identity it requires mutual TLS 1.3 and `mayCall` for
 * every connection, and follows certificate changes until it is closed. Without one it uses plain text.
 */
export function createPlatformServer(identity: Identity | undefined, options: ServerOptions, listener: RequestListener): HttpServer {
  if (!identity) return createServer(options, listener)
  const contextOf = ({ cert, key, ca } = identity.current()): SecureContextOptions => ({ cert, key, ca, minVersion: 'TLSv1.3' })
  const server = createSecureServer({ ...options, ...contextOf(), requestCert: true, rejectUnauthorized: true }, listener)
  server.on('secureConnection', (socket: TLSSocket) => {
    if (!identity.mayCall(socket.getPeerCertificate())) socket.destroy()
  })
  const stop = identity.onChange((certificates) => server.setSecureContext(contextOf(certificates)))
  server.once('close', stop)
  return server
}

/** A service that is called over HTTP. */
export interface HttpService {
  /** Origin without a trailing slash. */
  origin: string
  /** Agent that makes the connections. Undefined: Node's default, in plain text. */
  agent: HttpsAgent | undefined
}

/**
 * Returns the service at an origin. With a peer it requires mutual TLS, and the certificate must contain the name of
 * the service. Each request has its own connection, so that none meets a connection that is being closed.
 */
export function httpService(origin: string, peer: Peer | undefined): HttpService {
  return { origin, agent: peer && new PlatformAgent(peer) }
}

export function platformRequest(
  { origin, agent }: HttpService,
  path: string,
  options: RequestOptions,
  listener: (answer: IncomingMessage) => void,
): ClientRequest {
  const url = `${origin}${path}`
  return agent ? secureRequest(url, { ...options, agent }, listener) : request(url, options, listener)
}

class PlatformAgent extends HttpsAgent {
  readonly #peer: Peer

  constructor(peer: Peer) {
    // A resumed TLS session would skip the certificate check.
    super({ keepAlive: false, maxCachedSessions: 0 })
    this.#peer = peer
  }

  override createConnection(
    ...[options, callback]: Parameters<HttpsAgent['createConnection']>
  ): ReturnType<HttpsAgent['createConnection']> {
    const { service, identity } = this.#peer
    const { cert, key, ca } = identity.current()
    const checkName = (_host: string, certificate: PeerCertificate) => checkServerIdentity(service, certificate)
    const secured = { cert, key, ca, minVersion: 'TLSv1.3' as const, servername: service, checkServerIdentity: checkName }
    return super.createConnection({ ...options, ...secured }, callback)
  }
}
