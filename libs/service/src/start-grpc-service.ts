import { hostAndPort } from '@vitascope/config'
import { type Channel, createGrpcServer, type GrpcServer, openChannel, openIdentity, openPrincipalKeys } from '@vitascope/grpc'
import { type Db, openPostgres, type PoolState, type PostgresOptions, watchFailovers } from '@vitascope/postgres'
import { every, everyAfterDelay, type RunningService } from '@vitascope/process'
import { FailoverServiceService } from '@vitascope/proto/service/v1/failover'
import { createMetrics, type Logger, type Metrics, serveMetrics } from '@vitascope/telemetry'
import type { GrpcServiceConfig } from './config.ts'
import { failoverHandlers } from './failover-rpc.ts'

/*
 * The life of a gRPC service.
 *
 * Start:
 *  1. Metrics, keys and pools are opened, and `assemble` creates the service from them.
 *  2. The HTTP server of metrics and health starts, then the gRPC server. Health reports NOT_SERVING.
 *  3. `prepare` waits until the dependencies of calls are ready.
 *  4. `start` starts background work.
 *  5. Health follows the database from now on, and the loops run. The service is ready.
 *
 * Stop, in which each step ends before the next one begins:
 *  1. The signal `stopping` aborts. Health reports NOT_SERVING to probes.
 *  2. New calls are rejected. Running calls have the time to drain to end and are cancelled then. At
 *     the same time `drain` ends other incoming work, and each loop ends its round.
 *  3. `finish` completes the work that calls left in outboxes, queues and batches.
 *  4. Channels to other services and the keys close.
 *  5. The HTTP server of metrics and the pools close.
 *
 * A failed start is stopped in the same order.
 */

/** Connections and tools that a service is assembled from. The skeleton closes all of them. */
export interface ServiceBase {
  log: Logger
  metrics: Metrics
  identity: ReturnType<typeof openIdentity>
  principals: ReturnType<typeof openPrincipalKeys>
  server: GrpcServer
  /** Aborts when the service begins to stop. */
  stopping: AbortSignal
  /** Opens a pool for the service's schema. */
  openDatabase(options?: Pick<PostgresOptions, 'poolSize' | 'statementTimeoutMs'>): Db
  /** Opens a channel to the service of this name. */
  openChannel(service: string, address: string): Channel
}

/** The parts of a service that its skeleton runs. */
export interface ServiceParts {
  /** Health reports SERVING while this database responds. Its failovers are listed for operators. */
  db: Pick<Db, 'ping' | 'query'>
  /** Whether a loop repairs the effects of a failover of the database. False by default. */
  repairsFailovers?: boolean
  loops: readonly Loop[]
  prepare?(): Promise<void>
  start?(): void
  drain?(drainMs: number | undefined): Promise<unknown>
  finish?(): Promise<unknown>
  /** Closes the resources that the service opened itself, together with the keys. */
  close?(): void
}

/** A task that runs until the service stops. */
export interface Loop {
  run(signal: AbortSignal): Promise<void>
  /** The pause after each round. */
  everyMs: number
  /** Whether there is a pause before the first round too. False by default. */
  isDelayed?: boolean
}

export interface RunningGrpcService extends RunningService {
  /** `HOST:PORT` as bound. */
  address: string
  metricsPort: number
}

const HEALTH_EVERY_MS = 2_000

/** Starts a gRPC service. `dense` names the sequences of its schema that generate no ids. */
export async function startGrpcService(
  options: { name: string; config: GrpcServiceConfig; log: Logger; dense?: readonly string[] },
  assemble: (base: ServiceBase) => ServiceParts | Promise<ServiceParts>,
): Promise<RunningGrpcService> {
  const { name, config, log, dense = [] } = options
  const metrics = createMetrics(name)
  const identity = openIdentity(config.tls, { log, metrics })
  const principals = openPrincipalKeys(name, config.principalKeys, { log, metrics })
  const failovers = watchFailovers({ log, metrics, dense })
  const server = createGrpcServer({ principals, identity, serve: config.serve, log, metrics })
  const stopping = new AbortController()
  const pools: Db[] = []
  observePools(metrics, () => pools.flatMap((pool) => pool.pools()))
  const channels: Channel[] = []
  let parts: ServiceParts | undefined
  let loops: Promise<void>[] = []
  let metricsServer: Awaited<ReturnType<typeof serveMetrics>> | undefined

  const base: ServiceBase = {
    ...{ log, metrics, identity, principals, server, stopping: stopping.signal },
    openDatabase(poolOptions) {
      const { databaseUrl, directDatabaseUrl, poolSize } = config
      // A pooler has one statement timeout per role, so pools with another timeout connect directly.
      const isPooled = directDatabaseUrl !== undefined && poolOptions?.statementTimeoutMs === undefined
      const url = isPooled ? databaseUrl : (directDatabaseUrl ?? databaseUrl)
      const pool = openPostgres({ url, isPooled, schema: name, log, failovers, ...(poolSize && { poolSize }), ...poolOptions })
      pools.push(pool)
      return pool
    },
    openChannel(service, address) {
      const channel = openChannel(address, { service, principals, identity })
      channels.push(channel)
      return channel
    },
  }

  const start = async (): Promise<Pick<RunningGrpcService, 'address' | 'metricsPort'>> => {
    const { db, ...created } = await assemble(base)
    parts = { db, ...created }
    server.implement(FailoverServiceService, failoverHandlers(db, created.repairsFailovers ?? false))
    metricsServer = await serveMetrics(metrics, hostAndPort(config.metricsListen), log, server.isServing)
    const address = await server.listen(config.listen)
    server.setServing(false)
    await created.prepare?.()
    created.start?.()
    const checkHealth = async () => {
      const isAlive = await db.ping()
      if (!stopping.signal.aborted) server.setServing(isAlive)
    }
    await checkHealth()
    const health: Loop = { run: checkHealth, everyMs: HEALTH_EVERY_MS, isDelayed: true }
    loops = [health, ...created.loops].map(({ run, everyMs, isDelayed }) =>
      (isDelayed ? everyAfterDelay : every)(run, everyMs, log, stopping.signal),
    )
    log.info({ address, metrics_port: metricsServer.port }, 'listening')
    return { address, metricsPort: metricsServer.port }
  }

  const stop = async (drainMs?: number) => {
    stopping.abort()
    server.setServing(false)
    await Promise.all([server.drain(drainMs), parts?.drain?.(drainMs), ...loops])
    await parts?.finish?.()
    for (const channel of channels) channel.close()
    identity?.close()
    principals.close()
    parts?.close?.()
    await Promise.all([metricsServer?.close(), ...pools.map((pool) => pool.close())])
  }

  try {
    return { ...(await start()), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function observePools(metrics: Metrics, list: () => readonly PoolState[]): void {
  metrics.gauge(
    'vitascope_database_connections',
    'Open connections to the database, by pool (queries or transactions) and state (active or idle)',
    ['pool', 'state'],
    (gauge) => {
      gauge.reset()
      for (const { pool, active, idle } of list()) {
        gauge.inc({ pool, state: 'active' }, active)
        gauge.inc({ pool, state: 'idle' }, idle)
      }
    },
  )
  metrics.gauge('vitascope_database_connections_limit', 'Maximum number of connections to the database, by pool', ['pool'], (gauge) => {
    gauge.reset()
    for (const { pool, limit } of list()) gauge.inc({ pool }, limit)
  })
  metrics.gauge('vitascope_database_calls_waiting', 'Calls that wait for a connection to the database, by pool', ['pool'], (gauge) => {
    gauge.reset()
    for (const { pool, waiting } of list()) gauge.inc({ pool }, waiting)
  })
}
