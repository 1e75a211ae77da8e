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
 * A server for HTTP inside the house: mutual TLS 1.3 with an identity, whose `mayCall` every connection must pass, plain text without.
 * It follows changes of the certificates until it is closed.
 */
export function createHouseServer(identity: Identity | undefined, options: ServerOptions, listener: RequestListener): HttpServer {
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

/** A service that is called by HTTP. */
export interface HttpService {
  /** Without a slash at the end. */
  origin: string
  /** Makes the connections; undefined for those of Node, in plain text. */
  agent: HttpsAgent | undefined
}

/**
 * The service at an origin: with a peer as in `createHouseServer`, and it must show its name. Each request has a connection of its own, as
 * in plain text: it must not meet one that is just being closed.
 */
export function httpService(origin: string, peer: Peer | undefined): HttpService {
  return { origin, agent: peer && new HouseAgent(peer) }
}

export function houseRequest(
  { origin, agent }: HttpService,
  path: string,
  options: RequestOptions,
  listener: (answer: IncomingMessage) => void,
): ClientRequest {
  const url = `${origin}${path}`
  return agent ? secureRequest(url, { ...options, agent }, listener) : request(url, options, listener)
}

class HouseAgent extends HttpsAgent {
  readonly #peer: Peer

  constructor(peer: Peer) {
    // A session that is taken up again is not looked at again.
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
