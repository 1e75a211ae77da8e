import { createGrpcServer, openChannel, openIdentity, openPrincipalKeys } from '@vitascope/grpc'
import { commonRetention, createRetention, openPostgres, watchFailovers } from '@vitascope/postgres'
import { everyAfterDelay, type RunningService } from '@vitascope/process'
import { UserServiceService } from '@vitascope/proto/auth/v1/user'
import { VideoSummaryServiceService } from '@vitascope/proto/catalogue/v1/video_summary'
import { ClipServiceService } from '@vitascope/proto/collaboration/v1/clip'
import { EntryServiceService } from '@vitascope/proto/collaboration/v1/entry'
import { createMetrics, type Logger, serveMetrics } from '@vitascope/telemetry'
import { createUserSummaries } from './clients/user-summaries.ts'
import { createVideoSummaries } from './clients/video-summaries.ts'
import type { CollaborationConfig } from './config.ts'
import { clipHandlers } from './entry/clip-rpc.ts'
import { createClipStore } from './entry/clip-store.ts'
import { entryHandlers } from './entry/entry-rpc.ts'
import { createEntryStore } from './entry/entry-store.ts'
import { createEntrySweep } from './entry/entry-sweep.ts'
import { SCHEMA } from './migrate.ts'

/** A running collaboration service. */
export interface RunningCollaboration extends RunningService {
  /** `HOST:PORT` as bound. */
  address: string
  metricsPort: number
}

const READY_EVERY_MS = 2_000
/** Each run checks up to a thousand entries. */
const SWEEP_EVERY_MS = 10_000
const RETENTION_EVERY_MS = 3_600_000

export async function startCollaboration(config: CollaborationConfig, log: Logger): Promise<RunningCollaboration> {
  const metrics = createMetrics('collaboration')
  const identity = openIdentity(config.tls, { log, metrics })
  const principals = openPrincipalKeys('collaboration', config.principalKeys, { log, metrics })
  const failovers = watchFailovers({ log, metrics })
  const db = openPostgres({ url: config.databaseUrl, schema: SCHEMA, log, failovers })
  const catalogue = openChannel(config.catalogueAddress, { service: 'catalogue', principals, identity })
  const auth = openChannel(config.authAddress, { service: 'auth', principals, identity })
  const clients = {
    videos: createVideoSummaries(catalogue.client(VideoSummaryServiceService)),
    users: createUserSummaries(auth.client(UserServiceService)),
  }
  const entries = createEntryStore(db)
  const sweep = createEntrySweep(entries, clients, log)

  const server = createGrpcServer({ principals, identity, serve: config.serve, log, metrics })
  server.implement(EntryServiceService, entryHandlers({ entries, ...clients }))
  server.implement(ClipServiceService, clipHandlers({ clips: createClipStore(db), entries, ...clients }))

  const metricsServer = await serveMetrics(metrics, config.metricsListen, log, server.isServing)
  const address = await server.listen(config.listen)
  server.setServing(await db.ping())
  const stopping = new AbortController()
  const health = async (signal: AbortSignal) => {
    const answers = await db.ping()
    if (!signal.aborted) server.setServing(answers)
  }
  const loops = [
    everyAfterDelay(health, READY_EVERY_MS, log, stopping.signal),
    everyAfterDelay(sweep.run, SWEEP_EVERY_MS, log, stopping.signal),
    everyAfterDelay(createRetention({ tables: commonRetention(db), metrics, log }), RETENTION_EVERY_MS, log, stopping.signal),
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
      principals.close()
      await Promise.all([db.close(), metricsServer.close()])
    },
  }
}
