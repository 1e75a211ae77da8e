import { randomUUID } from 'node:crypto'
import { sourcePolicy } from '@vitascope/fetch'
import { commonRetainedTables, createOutbox, createRetention } from '@vitascope/postgres'
import { JobServiceService as CatalogueJobService } from '@vitascope/proto/catalogue/v1/job'
import { MediaServiceService } from '@vitascope/proto/catalogue/v1/media'
import { PresentationServiceService } from '@vitascope/proto/catalogue/v1/presentation'
import { QuotaServiceService } from '@vitascope/proto/catalogue/v1/quota'
import { VideoServiceService } from '@vitascope/proto/catalogue/v1/video'
import { JobServiceService } from '@vitascope/proto/encoding/v1/job'
import { PreviewPlaylistServiceService } from '@vitascope/proto/encoding/v1/preview_playlist'
import { QueueJobServiceService } from '@vitascope/proto/encoding/v1/queue_job'
import { UploadServiceService } from '@vitascope/proto/encoding/v1/upload'
import { WorkServiceService } from '@vitascope/proto/encoding/v1/work'
import { WorkerServiceService } from '@vitascope/proto/encoding/v1/worker'
import { createQueue } from '@vitascope/queue'
import { openMasterKeys, sealedJson } from '@vitascope/security'
import { type RunningGrpcService, type ServiceBase, type ServiceParts, startGrpcService } from '@vitascope/service'
import { openStorage } from '@vitascope/storage'
import { createKeyFileReports, type Logger, observeStorage } from '@vitascope/telemetry'
import { endReports } from './callback/end-report.ts'
import { playableReports } from './callback/playable-report.ts'
import { createProgressReporter } from './callback/progress-reporter.ts'
import { crashAt, crashAtCommit, createCrashCounter } from './common/crash-point.ts'
import type { EncodingConfig } from './config.ts'
import { createJobCommands } from './engine/accept-job.ts'
import { countCopyFallbacks } from './engine/copy-fallback.ts'
import { jobHandlers } from './engine/job-rpc.ts'
import { createTaskResults } from './engine/task-results.ts'
import { createTaskSteps } from './engine/task-steps.ts'
import { observeJobEnds, observeJobs } from './job/job-metrics.ts'
import { createExecutor, type Executor, type ExecutorTools } from './kubernetes/executor.ts'
import { endRunOfJob, sweepRuns } from './kubernetes/run-store.ts'
import { previewHandlers } from './preview-playlist/preview-playlist-rpc.ts'
import { queueJobHandlers } from './queue-job/queue-job-rpc.ts'
import { createQueueJobStore } from './queue-job/queue-job-store.ts'
import { createAfterFailover } from './reconcile/after-failover.ts'
import { createReconciler } from './reconcile/reconciler.ts'
import { sweepUnclaimed, uploadRetention } from './reconcile/sweep-uploads.ts'
import { createFetcher } from './source/fetcher.ts'
import { createUploadImporter } from './source/import-upload.ts'
import { finishUploads } from './tus/finish-upload.ts'
import { ticketHandler } from './tus/ticket-http.ts'
import { createTickets } from './tus/ticket-service.ts'
import { tusHandler } from './tus/tus-http.ts'
import { createTusStore } from './tus/tus-store.ts'
import { fileHandler } from './upload/file-http.ts'
import { objectHandler } from './upload/object-http.ts'
import { pictureHandler } from './upload/picture-http.ts'
import { listenForUploads } from './upload/upload-listener.ts'
import { createUploadQuota } from './upload/upload-quota.ts'
import { uploadHandlers } from './upload/upload-rpc.ts'
import { createUploadService, uploadLocation } from './upload/upload-service.ts'
import { createUploadStore } from './upload/upload-store.ts'
import { workHandlers } from './work/work-rpc.ts'
import { workerHandlers } from './work/worker-rpc.ts'
import { sweepWorkers } from './work/worker-store.ts'

export interface RunningEncoding extends RunningGrpcService {
  /** `HOST:PORT` of the HTTP server for uploads. */
  uploadAddress: string
}

/** Minimum number of connections for rpcs, downloads and the reconciler, which share a pool. */
const MIN_POOL_SIZE = 6
const RETENTION_EVERY_MS = 60_000
const UPLOAD_SWEEP_EVERY_MS = 600_000
const UPLOAD_FINISH_EVERY_MS = 5_000
/** Interval of the failover check, which reads a table of one or two rows. */
const FAILOVER_EVERY_MS = 1_000
/** Number of lease durations after a failover, after which no worker uses lost state any more. */
const FAILOVER_LEASES = 2

export async function startEncoding(config: EncodingConfig, log: Logger): Promise<RunningEncoding> {
  let uploadAddress = ''
  const service = await startGrpcService({ name: 'encoding', config, log }, async (base) => {
    const { uploadListener, ...parts } = await assemble(config, base)
    uploadAddress = uploadListener.address
    return parts
  })
  return { ...service, uploadAddress }
}

async function assemble(
  config: EncodingConfig,
  base: ServiceBase,
): Promise<ServiceParts & { uploadListener: Awaited<ReturnType<typeof listenForUploads>> }> {
  const { timing, source } = config
  const { log, metrics, identity, principals, server, stopping } = base
  const atCrashPoint = crashAt(config.crashAt)
  const countCommit = createCrashCounter(config.crashAt, 'commit')
  const open = (poolSize?: number) => crashAtCommit(base.openDatabase(poolSize ? { poolSize } : {}), countCommit)
  const db = open(Math.max(MIN_POOL_SIZE, config.poolSize ?? 0))
  // The outbox has its own pool, because each of its lanes holds a connection while it sends. Rpcs
  // must not wait for these.
  const outboxDb = open()
  const reportsOf = createKeyFileReports({ log, metrics })
  const storage = await openStorage(config.objects, { onRequest: observeStorage(metrics), keyListener: reportsOf('s3-keys') })
  const catalogue = base.openChannel('catalogue', config.catalogueAddress)
  const jobs = catalogue.client(CatalogueJobService)

  const queue = createQueue(db)
  const outbox = createOutbox({
    db: outboxDb,
    log,
    handlers: { ...endReports({ db, jobs, atCrashPoint }), ...playableReports({ db, jobs }) },
  })
  const onJobEnd = observeJobEnds(metrics)
  const jobCommands = createJobCommands({ db, queue, outbox, onJobEnd })
  const reporter = createProgressReporter({ db, jobs, log, onUnneeded: (jobId) => jobCommands.cancel(jobId) })
  const steps = createTaskSteps({
    db,
    queue,
    outbox,
    onJobEnd,
    retryMs: timing.retryMs,
    keepsSource: source.keepsSources,
    onProgress: reporter.changed,
    onCopyFallback: countCopyFallbacks(metrics),
  })
  const results = createTaskResults({ db, queue, steps, storage, atCrashPoint, log })
  const uploads = createUploadStore(db)
  const tusUploads = createTusStore(db)
  const videos = catalogue.client(VideoServiceService)
  const media = catalogue.client(MediaServiceService)
  const quota = createUploadQuota(catalogue.client(QuotaServiceService), log)
  const { objects } = config
  const secrets = openMasterKeys(config.uploadSigningKeyFile, reportsOf('upload-signing-key'))
  const uploadService = createUploadService({
    uploads,
    storage,
    presentations: catalogue.client(PresentationServiceService),
    quota,
    location: uploadLocation({ objects, maxBytes: source.maxBytes, secrets }),
    secrets,
  })
  const tickets = createTickets({ uploads: tusUploads, secrets, maxBytes: source.maxBytes })
  const fetcher = createFetcher({
    uploads: createUploadImporter({ uploads, tusUploads, storage }),
    db,
    queue,
    steps,
    storage,
    policy: sourcePolicy({ allow: source.allow, proxy: source.proxy }),
    limits: source,
    scratchDir: config.scratchDir,
    holder: `fetcher:${randomUUID()}`,
    leaseMs: timing.fetchLeaseMs,
    atCrashPoint,
    log,
  })
  const reconciler = createReconciler({
    ...{ db, queue, outbox, onJobEnd, steps, jobCommands, jobs, storage, log },
    intervalMs: timing.reconcileMs,
    lowPriorityMaxWaitSeconds: timing.lowPriorityMaxWaitSeconds,
  })
  const afterFailover = createAfterFailover({ db, queue, jobCommands, jobs, storage, log, graceMs: FAILOVER_LEASES * timing.leaseMs })
  const executor = await openExecutor(config, { db, queue, steps, log, metrics }, stopping)
  observeJobs(metrics, db, queue, log)

  server.implement(JobServiceService, jobHandlers({ db, jobs: jobCommands, uploads }))
  server.implement(
    WorkServiceService,
    workHandlers({
      db,
      queue,
      steps,
      results,
      leaseMs: timing.leaseMs,
      maxSourceSeconds: source.maxSeconds,
      podsEncodeChunks: config.kubernetes !== undefined,
      endRunOfJob: (jobId) => endRunOfJob(db.query, jobId),
      atCrashPoint,
      log,
      stopping,
    }),
    // Workers process untrusted input, so no other service accepts their calls.
    { callers: ['worker'] },
  )
  server.implement(WorkerServiceService, workerHandlers({ db }))
  server.implement(PreviewPlaylistServiceService, previewHandlers({ db, storage }))
  server.implement(QueueJobServiceService, queueJobHandlers(createQueueJobStore(db)))
  server.implement(
    UploadServiceService,
    uploadHandlers({
      db,
      service: uploadService,
      tickets,
      codec: () => sealedJson(secrets, 'vitascope encoding idempotent responses'),
    }),
  )
  const tusTools = {
    uploads: tusUploads,
    storage,
    videos,
    media,
    quota,
    maxBytes: source.maxBytes,
    retentionSeconds: config.uploadRetentionSeconds,
    log,
  }
  const uploadListener = await listenForUploads({
    listen: config.uploadListen,
    identity,
    principals,
    handlers: [
      objectHandler({ uploads, storage, service: uploadService, quota, log }),
      pictureHandler({ uploads, storage, quota }),
      fileHandler({ uploads, storage, quota, maxBytes: source.maxBytes, log }),
      tusHandler(tusTools),
      ticketHandler({ ...tusTools, tickets }),
    ],
    log,
  })
  const tables = [
    ...commonRetainedTables(db),
    ...uploadRetention({ uploads, tusUploads, storage, quota }),
    { table: 'work_item', remove: queue.sweep },
    { table: 'worker', remove: (limit: number) => sweepWorkers(db.query, limit) },
    { table: 'chunk_run', remove: (limit: number) => sweepRuns(db.query, limit), limit: 500 },
  ]
  return {
    db,
    repairsFailovers: true,
    uploadListener,
    start() {
      fetcher.start()
      outbox.start()
      reconciler.start()
      executor?.start()
    },
    loops: [
      { run: afterFailover, everyMs: FAILOVER_EVERY_MS },
      { run: (signal) => sweepUnclaimed({ uploads, storage }, signal), everyMs: UPLOAD_SWEEP_EVERY_MS },
      { run: (signal) => finishUploads({ uploads: tusUploads, videos, media, quota, log }, signal), everyMs: UPLOAD_FINISH_EVERY_MS },
      { run: createRetention({ tables, metrics, log }), everyMs: RETENTION_EVERY_MS, isDelayed: true },
    ],
    drain: () => Promise.all([fetcher.stop(), reconciler.stop(), executor?.stop(), uploadListener.stop()]),
    finish: () => Promise.all([results.stop(), outbox.stop(), reporter.stop()]),
    close: () => secrets.close(),
  }
}

/** Opens the executor. The Kubernetes client is large, so it is loaded only if it is used. */
async function openExecutor(
  { kubernetes }: EncodingConfig,
  tools: Omit<ExecutorTools, 'api' | 'settings'>,
  stopping: AbortSignal,
): Promise<Executor | undefined> {
  if (!kubernetes) return undefined
  const { openJobsClient } = await import('./kubernetes/jobs-client.ts')
  return createExecutor({ ...tools, settings: kubernetes, api: openJobsClient(kubernetes, stopping) })
}
