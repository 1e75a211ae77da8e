import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { hostAndPort } from '@vitascope/config'
import { createUnknownIds, limitViewerPaths, type ViewerRejection } from '@vitascope/rate-limit'
import { type Logger, type Metrics, observeConnections } from '@vitascope/telemetry'
import type { DeliveryConfig } from './config.ts'
import { sendProblem } from './problem.ts'

/**
 * Starts the HTTP server that viewers reach without the gateway. It has the limits of the gateway for requests of
 * one address. An ingress or a load balancer in front of it terminates TLS. Returns undefined if it is not
 * configured.
 */
export async function listenPublicly(
  config: DeliveryConfig,
  { listener, onThrottled, log, metrics }: { listener: RequestListener; onThrottled: (url: string) => void; log: Logger; metrics: Metrics },
): Promise<Server | undefined> {
  if (config.publicListen === undefined) return undefined
  const limited = limitViewerPaths(listener, {
    limits: config.limits,
    unknownIds: createUnknownIds(config.limits),
    trustedProxies: config.publicTrustedProxies,
    reject(request, response, rejection) {
      if (rejection.status === 429) onThrottled(request.url ?? '')
      reject(response, rejection)
    },
    log,
    metrics,
  })
  const options = {
    maxHeaderSize: 16_384,
    headersTimeout: 8_000,
    requestTimeout: 15_000,
    // Longer than the 60 s of most load balancers, which could otherwise reuse a connection that was just closed.
    keepAliveTimeout: 65_000,
  }
  const server = createServer(options, limited)
  observeConnections(metrics, server)
  const { host, port } = hostAndPort(config.publicListen)
  await new Promise<void>((resolve, onError) => server.once('error', onError).listen(port, host, resolve))
  return server
}

function reject(response: ServerResponse, { status, code, detail, retryAfter, headers }: ViewerRejection): void {
  sendProblem(response, status, code, { 'Retry-After': String(retryAfter), 'X-Content-Type-Options': 'nosniff', ...headers }, detail)
}
