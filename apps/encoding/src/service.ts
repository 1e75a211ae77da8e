import { randomUUID } from 'node:crypto'
import { sealedJson } from '@vitascope/access'
import { hostAndPort } from '@vitascope/config'
import { sourcePolicy } from '@vitascope/fetch'
import { createGrpcServer, openChannel, openIdentity, principalKey } from '@vitascope/grpc'
import { createOutbox, openPostgres, sweepIdempotency, watchFailovers } from '@vitascope/postgres'
import { repeat } from '@vitascope/process'
import { JobServiceService as CatalogueJobService } from '@vitascope/proto/catalogue/v1/job'
import { PresentationServiceService } from '@vitascope/proto/catalogue/v1/presentation'
import { VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { EarlyServiceService } from '@vitascope/proto/encoding/v1/early'
import { JobServiceService } from '@vitascope/proto/encoding/v1/job'
import { QueueJobServiceService } from '@vitascope/proto/encoding/v1/queue_job'
import { UploadServiceService } from '@vitascope/proto/encoding/v1/upload'
import { WorkServiceService } from '@vitascope/proto/encoding/v1/work'
import { createQueue } from '@vitascope/queue'
import { openStorage } from '@vitascope/storage'
import { createMetrics, type Logger, serveMetrics } from '@vitascope/telemetry'
import type { EncodingConfig } from './config.ts'
import { crashAt, crashCount, dyingAtCommit } from './crash-point.ts'
import { earlyHandlers } from './early/early-rpc.ts'
import { playableReports } from './early/playable-report.ts'
import { createExecutor, type Executor, type ExecutorTools } from './executor/executor.ts'
import { endRunOf } from './executor/run-store.ts'
import { createJobDesk } from './job/accept-job.ts'
import { observeJobs } from './job/job-metrics.ts'
import { jobHandlers } from './job/job-rpc.ts'
import { queueJobHandlers } from './queue-job/queue-job-rpc.ts'
import { createQueueJobStore } from './queue-job/queue-job-store.ts'
import { createAfterFailover } from './reconcile/after-failover.ts'
import { createReconciler } from './reconcile/reconciler.ts'
import { endReports } from './report/end-report.ts'
import { createProgressReporter } from './report/progress-reporter.ts'
import { createFetcher } from './source/fetcher.ts'
import { finishUploads } from './tus/finish-upload.ts'
import { tusHandler } from './tus/tus-http.ts'
import { createTusStore } from './tus/tus-store.ts'
import { createUploadBringer } from './upload/bring-upload.ts'
import { objectHandler } from './upload/object-http.ts'
import { sweepUploads } from './upload/sweep-uploads.ts'
import { createUploadDesk, uploadPlace } from './upload/upload-desk.ts'
import { listenForUploads } from './upload/upload-listener.ts'
import { uploadHandlers } from './upload/upload-rpc.ts'
import { createUploadStore } from './upload/upload-store.ts'
import { createTaskResults } from './work/task-results.ts'
import { createTaskSteps } from './work/task-steps.ts'
import { workHandlers } from './work/work-rpc.ts'

export interface RunningEncoding {
  /** `HOST:PORT` of its gRPC server. */
  address: string
  /** `HOST:PORT` that takes the bytes of uploads. */
  uploadAddress: string
  stop(drainMs?: number): Promise<void>
}

/** Connections at most for rpcs, fetches and the reconciler. */
const POOL_SIZE = 6
const HEALTH_MS = 2_000
const SWEEP_MS = 3_600_000
const UPLOAD_SWEEP_MS = 600_000
const UPLOAD_FINISH_MS = 5_000
/** Between two looks whether there was a failover: a table of a row or two. */
const FAILOVER_MS = 1_000
/** After so many leases nobody works for a time that was lost. */
const FAILOVER_LEASES = 2

export async function startEncoding(config: EncodingConfig, log: Logger): Promise<RunningEncoding> {
  const { timing, source } = config
  const key = principalKey(config.principalKey)
  const metrics = createMetrics('encoding')
  const identity = openIdentity(config.tls, { log, metrics })
  const reach = crashAt(config.crashAt)
  const stopping = new AbortController()
  const failovers = watchFailovers({ schema: 'encoding', log, metrics })
  const count = crashCount(config.crashAt, 'commit')
  const open = (poolSize?: number) => {
    const own = openPostgres({ url: config.databaseUrl, schema: 'encoding', log, failovers, ...(poolSize && { poolSize }) })
    return dyingAtCommit(own, count)
  }
  const db = open(POOL_SIZE)
  // Apart: each lane of the outbox holds a connection while it sends, and the calls must not wait for that.
  const outboxDb = open()
  const storage = await openStorage(config.objects)
  const catalogue = openChannel(config.catalogueAddress, { principalKey: key, peer: identity?.peer('catalogue') })
  const jobs = catalogue.client(CatalogueJobService)

  const queue = createQueue(db)
  const outbox = createOutbox({ db: outboxDb, log, handlers: { ...endReports({ db, jobs, reach }), ...playableReports({ db, jobs }) } })
  const desk = createJobDesk({ db, queue, outbox })
  const reporter = createProgressReporter({ db, jobs, log, onUnwanted: (jobId) => desk.cancel(jobId) })
  const steps = createTaskSteps({ db, queue, outbox, retryMs: timing.retryMs, keepsSource: source.isKept, onProgress: reporter.changed })
  const results = createTaskResults({ db, queue, steps, storage, reach, log })
  const uploads = createUploadStore(db)
  const tusUploads = createTusStore(db)
  const videos = catalogue.client(VideoServiceService)
  const { principalKey: secret, objects } = config
  const uploadDesk = createUploadDesk({
    uploads,
    storage,
    presentations: catalogue.client(PresentationServiceService),
    place: uploadPlace({ objects, maxBytes: source.maxBytes, secret }),
    secret,
  })
  const fetcher = createFetcher({
    uploads: createUploadBringer({ uploads, tusUploads, storage }),
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
  const afterFailover = createAfterFailover({ db, queue, desk, jobs, storage, log, graceMs: FAILOVER_LEASES * timing.leaseMs })
  const executor = await openExecutor(config, { db, queue, steps, log, metrics }, stopping.signal)
  observeJobs(metrics, db, queue, log)

  const server = createGrpcServer({ principalKey: key, identity, serve: config.serve, log, metrics })
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
      chunksByNumber: config.kubernetes !== undefined,
      renewRun: (jobId) => endRunOf(db.query, jobId),
      log,
      stopping: stopping.signal,
    }),
  )
  server.implement(EarlyServiceService, earlyHandlers({ db, storage }))
  server.implement(QueueJobServiceService, queueJobHandlers(createQueueJobStore(db)))
  server.implement(
    UploadServiceService,
    uploadHandlers({ db, desk: uploadDesk, codec: () => sealedJson(secret, 'vitascope encoding idempotent answers') }),
  )
  const uploadListener = await listenForUploads({
    listen: config.uploadListen,
    identity,
    principalKey: key,
    handlers: [
      objectHandler({ uploads, storage, desk: uploadDesk }),
      tusHandler({ uploads: tusUploads, storage, videos, maxBytes: source.maxBytes, keptSeconds: config.uploadKeptSeconds }),
    ],
    log,
  })
  const page = await serveMetrics(metrics, hostAndPort(config.metricsListen), log, server.isServing)
  const address = await server.listen(config.listen)
  fetcher.start()
  outbox.start()
  reconciler.start()
  executor?.start()
  const settling = repeat(afterFailover, FAILOVER_MS, log, stopping.signal)
  const sweeping = repeat((signal) => sweepUploads({ uploads, tusUploads, storage }, signal), UPLOAD_SWEEP_MS, log, stopping.signal)
  const finishing = repeat((signal) => finishUploads({ uploads: tusUploads, videos, log }, signal), UPLOAD_FINISH_MS, log, stopping.signal)
  const health = setInterval(() => db.ping().then((alive) => stopping.signal.aborted || server.setServing(alive)), HEALTH_MS)
  const sweep = setInterval(() => {
    sweepIdempotency(db).catch((error: unknown) => log.warn({ err: error }, 'old idempotency keys were not removed'))
  }, SWEEP_MS)
  log.info({ address, metrics_port: page.port }, 'listening')

  return {
    address,
    uploadAddress: uploadListener.address,
    async stop(drainMs) {
      stopping.abort()
      clearInterval(health)
      clearInterval(sweep)
      server.setServing(false)
      await Promise.all([
        fetcher.stop(),
        reconciler.stop(),
        executor?.stop(),
        settling,
        sweeping,
        finishing,
        uploadListener.stop(),
        server.drain(drainMs),
      ])
      await Promise.all([outbox.stop(), reporter.stop()])
      catalogue.close()
      identity?.close()
      await page.close()
      await Promise.all([db.close(), outboxDb.close()])
    },
  }
}

/** The client of Kubernetes is large: it is loaded where it is used. */
async function openExecutor(
  { kubernetes }: EncodingConfig,
  tools: Omit<ExecutorTools, 'api' | 'settings'>,
  stopping: AbortSignal,
): Promise<Executor | undefined> {
  if (!kubernetes) return undefined
  const { openJobApi } = await import('./executor/job-api.ts')
  return createExecutor({ ...tools, settings: kubernetes, api: openJobApi(kubernetes, stopping) })
}
