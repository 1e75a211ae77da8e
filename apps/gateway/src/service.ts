import { hostAndPort } from '@vitascope/config'
import { checkUrl, sourcePolicy } from '@vitascope/fetch'
import { httpService, openChannel, openIdentity } from '@vitascope/grpc'
import type { RunningService } from '@vitascope/process'
import { createMetrics, type Logger, serveMetrics } from '@vitascope/telemetry'
import { linkAuth } from './access/auth-link.ts'
import { createKeyChecks } from './access/key-checks.ts'
import { createApp } from './app.ts'
import { createAuditLog } from './audit/audit-log.ts'
import type { GatewayConfig } from './config.ts'
import { type Dependency, missingOf } from './health/health-pages.ts'
import { isAnswering, isServing } from './health/service-health.ts'
import { createHttpServer } from './http/http-server.ts'
import { listenWide } from './http/listen.ts'
import { ownBudgets, sharedBudgets } from './limits/budget.ts'
import { createDoor } from './limits/door.ts'
import { createLimiter } from './limits/limiter.ts'
import { createLoadShed } from './limits/load-shed.ts'
import { createPasswordTries } from './limits/password-tries.ts'
import { createBodies } from './payload/bodies.ts'
import { openRedis } from './redis/redis.ts'
import type { Route } from './route.ts'
import { connectServices } from './services.ts'
import { createUploadProxy } from './upload/upload-proxy.ts'

/** On one slow core, 32 at once keep everything busy and are still answered in time. */
const PLACES = { least: 32, usual: 80, most: 512 }
/** Without these nothing is answered. Where another one is away its own paths are refused, by a gateway that keeps its place. */
const VITAL: ReadonlySet<string> = new Set(['gateway', 'auth', 'catalogue', 'resources'])
/** What still runs then is cut off: `npm start` as a whole has 10 s. */
const DRAIN_MS = 5_000

export async function startGateway(
  config: GatewayConfig,
  routes: readonly Route[],
  log: Logger,
  { checkAnswers = false }: { checkAnswers?: boolean } = {},
): Promise<RunningService & { address: string; metricsAddress: string }> {
  const metrics = createMetrics('gateway')
  const { principalKey } = config
  const identity = openIdentity(config.tls, { log, metrics })
  const open = (service: string, address: string) => openChannel(address, { principalKey, peer: identity?.peer(service) })
  const channels = {
    auth: open('auth', config.authAddress),
    catalogue: open('catalogue', config.catalogueAddress),
    encoding: open('encoding', config.encodingAddress),
    collaboration: open('collaboration', config.collaborationAddress),
    analytics: open('analytics', config.analyticsAddress),
  }
  const delivery = httpService(config.deliveryUrl, identity?.peer('delivery'))
  const services = connectServices(channels)
  const keys = createKeyChecks(services.apiKeys)
  const audit = createAuditLog({ audit: services.audit, log })
  const redis = config.redisUrl === undefined ? undefined : openRedis(config.redisUrl, log)
  const budgets = redis ? sharedBudgets(redis) : ownBudgets
  const link = linkAuth({ accessList: services.accessList, apiKeys: services.apiKeys, keys, routes, log, redis })

  let stopping = false
  const dependencies: Dependency[] = [
    { name: 'gateway', check: async () => (stopping ? 'is stopping' : undefined) },
    ...Object.entries(channels).map(([name, channel]) => ({
      name,
      check: async () => ((await isServing(channel)) ? undefined : 'does not serve'),
    })),
    { name: 'delivery', check: async () => ((await isAnswering(delivery)) ? undefined : 'does not answer') },
    { name: 'resources', check: async () => (link.registered() ? undefined : 'are not registered with auth yet') },
  ]

  const policy = sourcePolicy({ allow: config.sourceAllow })
  let bound = ''
  const publicUrl = () => config.publicUrl ?? `http://${bound}`
  const shed = createLoadShed(PLACES)
  const app = createApp({
    ...config,
    delivery,
    routes,
    services,
    keys,
    audit,
    limiter: createLimiter(config.limits, budgets),
    passwordTries: createPasswordTries(budgets),
    bodies: createBodies(),
    shed,
    passUpload: createUploadProxy({ to: httpService(config.uploadUrl, identity?.peer('encoding')), principalKey, publicUrl, log }),
    publicUrl,
    checkSource: (url) => checkUrl(url, policy),
    checkAnswers,
    dependencies,
    log,
    metrics,
  })
  const server = createHttpServer(createDoor(app, { ...config, shed, routes, publicUrl, log, metrics }), publicUrl)
  const listening = await listenWide(server, config)
  bound = `${hostInUrl(config.host)}:${listening.port}`
  const metricsListen = hostAndPort(config.metricsListen)
  const vital = dependencies.filter(({ name }) => VITAL.has(name))
  const page = await serveMetrics(metrics, metricsListen, log, async () => (await missingOf(vital)).length === 0)

  return {
    address: bound,
    metricsAddress: `${metricsListen.host}:${page.port}`,
    async stop(drainMs = DRAIN_MS) {
      stopping = true
      const closed = listening.close()
      // Connections become idle one by one, as what runs on them ends.
      const sweep = setInterval(() => server.closeIdleConnections(), 20)
      const timer = setTimeout(() => server.closeAllConnections(), drainMs)
      await closed
      clearInterval(sweep)
      clearTimeout(timer)
      await link.stop()
      redis?.close()
      await audit.stop()
      for (const channel of Object.values(channels)) channel.close()
      identity?.close()
      await page.close()
    },
  }
}

/** A wildcard is no address to call. */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
