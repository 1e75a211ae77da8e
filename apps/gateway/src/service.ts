import type { IncomingMessage, ServerResponse } from 'node:http'
import { hostAndPort } from '@vitascope/config'
import { checkUrl, sourcePolicy } from '@vitascope/fetch'
import { httpService, openChannel, openIdentity, openPrincipalKeys } from '@vitascope/grpc'
import type { RunningService } from '@vitascope/process'
import { createThrottleReports, createUnknownIds, limitViewerPaths, localBudgets } from '@vitascope/rate-limit'
import { createMetrics, type Logger, observeConnections, serveMetrics } from '@vitascope/telemetry'
import { createApp } from './app.ts'
import { connectServices } from './clients/services.ts'
import { throttleCalls } from './clients/throttle-calls.ts'
import type { GatewayConfig } from './config.ts'
import { subscribeToRevocations } from './server/access/auth-subscription.ts'
import { createApiKeyCache } from './server/access/key-cache.ts'
import { createAuditLog } from './server/audit/audit-log.ts'
import { type Dependency, findUnavailable } from './server/health/health-pages.ts'
import { isHealthy, isServing } from './server/health/service-health.ts'
import { createHttpServer } from './server/http/http-server.ts'
import { listenOnManySockets } from './server/http/listen.ts'
import { createConcurrencyLimit } from './server/limits/adaptive-concurrency-limit.ts'
import { rejectWhenOverloaded } from './server/limits/admission-control.ts'
import { type EarlyRejection, rejectEarly } from './server/limits/early-rejection.ts'
import { createEventBudgets } from './server/limits/event-budgets.ts'
import { createLimiter } from './server/limits/limiter.ts'
import { createPasswordAttempts } from './server/limits/password-attempts.ts'
import { sharedBudgets } from './server/limits/shared-budgets.ts'
import { createBodyLimiter } from './server/payload/body-limiter.ts'
import { createFileSender } from './server/proxy/file-sender.ts'
import { createTransferLimits } from './server/proxy/transfers.ts'
import { createUploadProxy } from './server/proxy/upload-proxy.ts'
import { openRedis } from './server/redis/redis.ts'
import type { Route } from './server/route/route.ts'
import { createGuestResponses } from './server/routing/guest-responses.ts'
import { subscribeToPublicChanges } from './server/routing/public-changes.ts'

/** On one slow core, 32 concurrent requests saturate the CPU and are still answered in time. */
const CONCURRENCY_BOUNDS = { min: 32, initial: 80, max: 512 }
/**
 * Dependencies of the readiness probe, `/readyz` of the metrics port, until they were all available once. Later, only
 * the paths of an unavailable service fail, and files and cached responses are still served. `/readyz` of the public
 * port always reports all dependencies.
 */
const REQUIRED_DEPENDENCIES: ReadonlySet<string> = new Set(['auth', 'catalogue', 'resources'])
/** Remaining requests are aborted after this time. `npm start` as a whole has 10 s. */
const DRAIN_TIMEOUT_MS = 5_000

export async function startGateway(
  config: GatewayConfig,
  routes: readonly Route[],
  log: Logger,
  { validateResponses = false }: { validateResponses?: boolean } = {},
): Promise<RunningService & { address: string; metricsAddress: string }> {
  const metrics = createMetrics('gateway')
  const identity = openIdentity(config.tls, { log, metrics })
  const principals = openPrincipalKeys('gateway', config.principalKeys, { log, metrics })
  const open = (service: string, address: string) => openChannel(address, { service, principals, identity })
  const channels = {
    auth: open('auth', config.authAddress),
    catalogue: open('catalogue', config.catalogueAddress),
    encoding: open('encoding', config.encodingAddress),
    collaboration: open('collaboration', config.collaborationAddress),
    analytics: open('analytics', config.analyticsAddress),
  }
  const delivery = httpService(config.deliveryUrl, identity?.peer('delivery'), { keepAlive: true })
  const services = connectServices(channels, metrics)
  const keys = createApiKeyCache(services.apiKeys)
  const audit = createAuditLog({ audit: services.audit, log })
  const { redisUrl: url, redisSentinels: sentinels, redisClusterNodes: clusterNodes } = config
  const redis = url === undefined && !sentinels && !clusterNodes ? undefined : openRedis({ url, sentinels, clusterNodes }, log)
  const budgets = redis ? sharedBudgets(redis) : localBudgets
  const revocations = subscribeToRevocations({ accessList: services.accessList, apiKeys: services.apiKeys, keys, routes, log, redis })

  const guestResponses = createGuestResponses({ metrics })
  const publicChanges = subscribeToPublicChanges({ videos: services.videos, responses: guestResponses, log })

  let stopping = false
  const dependencies: Dependency[] = [
    { name: 'gateway', check: async () => (stopping ? 'is stopping' : undefined) },
    ...Object.entries(channels).map(([name, channel]) => ({
      name,
      check: async () => ((await isServing(channel)) ? undefined : 'is not serving'),
    })),
    { name: 'delivery', check: async () => ((await isHealthy(delivery)) ? undefined : 'does not respond') },
    { name: 'resources', check: async () => (revocations.isRegistered() ? undefined : 'are not registered with auth yet') },
  ]

  const policy = sourcePolicy({ allow: config.sourceAllow })
  let address = ''
  const publicUrl = () => config.publicUrl ?? `http://${address}`
  const mediaUrl = () => config.mediaUrl ?? publicUrl()
  const concurrencyLimit = createConcurrencyLimit(CONCURRENCY_BOUNDS)
  const limiter = createLimiter(config.limits, budgets)
  const unknownIds = createUnknownIds(config.limits)
  const transfers = createTransferLimits(config, metrics)
  const uploadService = httpService(config.uploadUrl, identity?.peer('encoding'))
  const app = createApp({
    ...config,
    delivery,
    downloads: transfers.downloads,
    routes,
    services,
    keys,
    audit,
    limiter,
    eventBudgets: createEventBudgets(config.limits, limiter, budgets),
    passwordAttempts: createPasswordAttempts(budgets),
    signInAttempts: createPasswordAttempts(budgets, 'sign_in'),
    bodies: createBodyLimiter(),
    concurrencyLimit,
    unknownIds,
    guestResponses,
    proxyUpload: createUploadProxy({ to: uploadService, transfers, principals, publicUrl, log }),
    sendFile: createFileSender({ to: uploadService, principals, log }),
    uploads: transfers.uploads,
    publicUrl,
    mediaUrl,
    checkSource: (url) => checkUrl(url, policy),
    validateResponses,
    readinessDependencies: dependencies,
    log,
    metrics,
  })
  const throttled = createThrottleReports({ ...throttleCalls(services), log })
  const rejectViewer = (request: IncomingMessage, response: ServerResponse, rejection: EarlyRejection) => {
    if (rejection.status === 429) throttled.note(request.url ?? '')
    rejectEarly(request, response, publicUrl(), rejection)
  }
  const listener = limitViewerPaths(app, { ...config, unknownIds, reject: rejectViewer, log, metrics })
  const server = createHttpServer(
    rejectWhenOverloaded(listener, { ...config, concurrencyLimit, routes, publicUrl, log, metrics }),
    publicUrl,
  )
  observeConnections(metrics, server)
  const listening = await listenOnManySockets(server, config)
  address = `${hostInUrl(config.host)}:${listening.port}`
  const metricsListen = hostAndPort(config.metricsListen)
  const required = dependencies.filter(({ name }) => REQUIRED_DEPENDENCIES.has(name))
  let wasReady = false
  const metricsServer = await serveMetrics(metrics, metricsListen, log, async () => {
    wasReady ||= (await findUnavailable(required)).length === 0
    return wasReady && !stopping
  })

  return {
    address,
    metricsAddress: `${metricsListen.host}:${metricsServer.port}`,
    async stop(drainMs = DRAIN_TIMEOUT_MS) {
      stopping = true
      const closed = listening.close()
      // Connections become idle one by one as their requests end.
      const sweep = setInterval(() => server.closeIdleConnections(), 20)
      const timer = setTimeout(() => server.closeAllConnections(), drainMs)
      await closed
      clearInterval(sweep)
      clearTimeout(timer)
      await Promise.all([revocations.stop(), publicChanges.stop()])
      throttled.close()
      redis?.close()
      await audit.stop()
      for (const channel of Object.values(channels)) channel.close()
      identity?.close()
      principals.close()
      await metricsServer.close()
    },
  }
}

/**
 * Returns a host that clients can connect to, because a wildcard address cannot be used in a URL.
 */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
