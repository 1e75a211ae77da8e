import { randomUUID } from 'node:crypto'
import { hostAndPort } from '@vitascope/config'
import { sourcePolicy } from '@vitascope/fetch'
import { createGrpcServer, openChannel, principalKey } from '@vitascope/grpc'
import { createOutbox, openPostgres, sweepIdempotency } from '@vitascope/postgres'
import { JobServiceService as CatalogueJobService } from '@vitascope/proto/catalogue/v1/job'
import { JobServiceService } from '@vitascope/proto/encoding/v1/job'
import { QueueJobServiceService } from '@vitascope/proto/encoding/v1/queue_job'
import { WorkServiceService } from '@vitascope/proto/encoding/v1/work'
import { createQueue } from '@vitascope/queue'
import { openFileStorage } from '@vitascope/storage'
import { createMetrics, type Logger, serveMetrics } from '@vitascope/telemetry'
import type { EncodingConfig } from './config.ts'
import { crashAt } from './crash-point.ts'
import { createJobDesk } from './job/accept-job.ts'
import { observeJobs } from './job/job-metrics.ts'
import { jobHandlers } from './job/job-rpc.ts'
import { queueJobHandlers } from './queue-job/queue-job-rpc.ts'
import { createQueueJobStore } from './queue-job/queue-job-store.ts'
import { createReconciler } from './reconcile/reconciler.ts'
import { endReports } from './report/end-report.ts'
import { createProgressReporter } from './report/progress-reporter.ts'
import { createFetcher } from './source/fetcher.ts'
import { createTaskResults } from './work/task-results.ts'
import { createTaskSteps } from './work/task-steps.ts'
import { workHandlers } from './work/work-rpc.ts'

export interface RunningEncoding {
  /** `HOST:PORT` of its gRPC server. */
  address: string
  stop(): Promise<void>
}

/** Connections at most for rpcs, fetches and the reconciler. */
const POOL_SIZE = 6
const HEALTH_MS = 2_000
const SWEEP_MS = 3_600_000

export async function startEncoding(config: EncodingConfig, log: Logger): Promise<RunningEncoding> {
  const { timing, source } = config
  const key = principalKey(config.principalKey)
  const metrics = createMetrics('encoding')
  const reach = crashAt(config.crashAt)
  const stopping = new AbortController()
  const db = openPostgres({ url: config.databaseUrl, schema: 'encoding', log, poolSize: POOL_SIZE })
  // Apart: each lane of the outbox holds a connection while it sends, and the calls must not wait for that.
  const outboxDb = openPostgres({ url: config.databaseUrl, schema: 'encoding', log })
  const storage = await openFileStorage({ root: config.storageDir })
  const catalogue = openChannel(config.catalogueAddress, { principalKey: key })
  const jobs = catalogue.client(CatalogueJobService)

  const queue = createQueue(db)
  const outbox = createOutbox({ db: outboxDb, log, handlers: endReports({ db, jobs, reach }) })
  const desk = createJobDesk({ db, queue, outbox })
  const reporter = createProgressReporter({ db, jobs, log, onUnwanted: (jobId) => desk.cancel(jobId) })
  const steps = createTaskSteps({ db, queue, outbox, retryMs: timing.retryMs, onProgress: reporter.changed })
  const results = createTaskResults({ db, queue, steps, storage, reach, log })
  const fetcher = createFetcher({
    db,
    queue,
    steps,
    storage,
    policy: sourcePolicy({ allow: source.allow }),
    limits: source,
    scratchDir: config.scratchDir,
    holder: `fetcher:${randomUUID()}`,
    leaseMs: timing.fetchLeaseMs,
    reach,
    log,
  })
  const reconciler = createReconciler({ db, queue, outbox, steps, desk, jobs, storage, log, intervalMs: timing.reconcileMs })
  observeJobs(metrics, db, queue, log)

  const server = createGrpcServer({ principalKey: key, log, metrics })
  server.implement(JobServiceService, jobHandlers({ db, desk }))
  server.implement(
    WorkServiceService,
    workHandlers({
      db,
      queue,
      steps,
      results,
      leaseMs: timing.leaseMs,
      maxSourceSeconds: source.maxSeconds,
      log,
      stopping: stopping.signal,
    }),
  )
  server.implement(QueueJobServiceService, queueJobHandlers(createQueueJobStore(db)))
  const page = await serveMetrics(metrics, hostAndPort(config.metricsListen), log)
  const address = await server.listen(config.listen)
  fetcher.start()
  outbox.start()
  reconciler.start()
  const health = setInterval(() => db.ping().then((alive) => stopping.signal.aborted || server.setServing(alive)), HEALTH_MS)
  const sweep = setInterval(() => {
    sweepIdempotency(db).catch((error: unknown) => log.warn({ err: error }, 'old idempotency keys were not removed'))
  }, SWEEP_MS)
  log.info({ address, metrics_port: page.port }, 'listening')

  return {
    address,
    async stop() {
      stopping.abort()
      clearInterval(health)
      clearInterval(sweep)
      server.setServing(false)
      await Promise.all([fetcher.stop(), reconciler.stop(), server.drain()])
      await Promise.all([outbox.stop(), reporter.stop()])
      catalogue.close()
      await page.close()
      await Promise.all([db.close(), outboxDb.close()])
    },
  }
}
