import { createGrpcServer, openChannel, openIdentity } from '@vitascope/grpc'
import { openPostgres, sweepIdempotency, watchFailovers } from '@vitascope/postgres'
import { type RunningService, repeatLater } from '@vitascope/process'
import { UserServiceService } from '@vitascope/proto/auth/v1/user'
import { VideoFactServiceService } from '@vitascope/proto/catalogue/v1/video_fact'
import { ClipServiceService } from '@vitascope/proto/collaboration/v1/clip'
import { EntryServiceService } from '@vitascope/proto/collaboration/v1/entry'
import { createMetrics, type Logger, serveMetrics } from '@vitascope/telemetry'
import { clipHandlers } from './clip/clip-rpc.ts'
import { createClipStore } from './clip/clip-store.ts'
import type { CollaborationConfig } from './config.ts'
import { entryHandlers } from './entry/entry-rpc.ts'
import { createEntryStore } from './entry/entry-store.ts'
import { createEntrySweep } from './entry/entry-sweep.ts'
import { SCHEMA } from './migrate.ts'
import { askAuth } from './neighbour/user-facts.ts'
import { askCatalogue } from './neighbour/video-facts.ts'

/** Collaboration, serving. */
export interface RunningCollaboration extends RunningService {
  /** `HOST:PORT` as bound. */
  address: string
  metricsPort: number
}

const READY_EVERY_MS = 2_000
/** A thousand entries are looked at each time. */
const SWEEP_EVERY_MS = 10_000
const IDEMPOTENCY_EVERY_MS = 3_600_000

export async function startCollaboration(config: CollaborationConfig, log: Logger): Promise<RunningCollaboration> {
  const metrics = createMetrics('collaboration')
  const { principalKey } = config
  const identity = openIdentity(config.tls, { log, metrics })
  const failovers = watchFailovers({ schema: SCHEMA, log, metrics })
  const db = openPostgres({ url: config.databaseUrl, schema: SCHEMA, log, failovers })
  const catalogue = openChannel(config.catalogueAddress, { principalKey, peer: identity?.peer('catalogue') })
  const auth = openChannel(config.authAddress, { principalKey, peer: identity?.peer('auth') })
  const neighbours = {
    videos: askCatalogue(catalogue.client(VideoFactServiceService)),
    users: askAuth(auth.client(UserServiceService)),
  }
  const entries = createEntryStore(db)
  const sweep = createEntrySweep(entries, neighbours, log)

  const server = createGrpcServer({ principalKey, identity, serve: config.serve, log, metrics })
  server.implement(EntryServiceService, entryHandlers({ entries, ...neighbours }))
  server.implement(ClipServiceService, clipHandlers({ clips: createClipStore(db), entries, ...neighbours }))

  const metricsServer = await serveMetrics(metrics, config.metricsListen, log, server.isServing)
  const address = await server.listen(config.listen)
  server.setServing(await db.ping())
  const stopping = new AbortController()
  const health = async (signal: AbortSignal) => {
    const answers = await db.ping()
    if (!signal.aborted) server.setServing(answers)
  }
  const loops = [
    repeatLater(health, READY_EVERY_MS, log, stopping.signal),
    repeatLater(sweep.run, SWEEP_EVERY_MS, log, stopping.signal),
    repeatLater(() => sweepIdempotency(db), IDEMPOTENCY_EVERY_MS, log, stopping.signal),
  ]
  log.info({ address, metrics_port: metricsServer.port }, 'listening')

  return {
    address,
    metricsPort: metricsServer.port,
    async stop(drainMs) {
      stopping.abort()
      await Promise.all([server.drain(drainMs), ...loops])
      catalogue.close()
      auth.close()
      identity?.close()
      await Promise.all([db.close(), metricsServer.close()])
    },
  }
}
