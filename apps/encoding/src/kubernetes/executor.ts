import { setTimeout as delay } from 'node:timers/promises'
import type { V1Job, V1OwnerReference } from '@kubernetes/client-node'
import type { Db } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import type { Logger, Metrics } from '@vitascope/telemetry'
import type { TaskSteps } from '../engine/task-steps.ts'
import { readJob } from '../job/job-store.ts'
import { type ChunkRun, kubernetesJobName, readIndexes } from './chunk-run.ts'
import type { KubernetesSettings } from './executor-config.ts'
import { belongsTo, estimatePodNeeds, isSuspendedAndOutdated, jobManifest, listChunks, settingsHash } from './job-manifest.ts'
import { watchJobs } from './job-watch.ts'
import type { JobsClient } from './jobs-client.ts'
import { endRun, type OpenRun, openItems, openRuns } from './run-store.ts'

export interface ExecutorTools {
  db: Db
  queue: Queue
  steps: TaskSteps
  api: JobsClient
  settings: KubernetesSettings
  log: Logger
  metrics: Metrics
}

export interface Executor {
  start(): void
  stop(): Promise<void>
}

const PASS_MS = 1_000
/** Usual outcomes of a Job that ended while chunks remained. Kubernetes may report others. */
const OUTCOMES = ['FailedIndexes', 'MaxFailedIndexesExceeded', 'DeadlineExceeded', 'stalled', 'complete'] as const
const MIN_PAUSE_MS = 50
const MAX_PAUSE_MS = 60_000
/** Lease under which the fault of a dead pod is recorded. Recording takes far less time. */
const CHARGE_LEASE_MS = 30_000

/**
 * Reconciles the Kubernetes Jobs with the runs in the database: each open run has one Job, and
 * there is no other. Differences are corrected by idempotent calls in every pass. A Job is only
 * capacity. Its pods lease their chunks from this service, and the leases of the queue decide. So
 * no work is lost or duplicated if a Job, the API server or this process fails.
 * Low-priority runs get no Job while a normal run is open.
 *
 *     open chunks --> run --> Job --ends with open chunks--> run ended, next run
 *     no open chunks, or the job cancelled --> run ended --> Job removed
 *     still suspended, and made with other settings --> Job removed, and recreated for the same run
 */
export function createExecutor({ db, queue, steps, api, settings, log, metrics }: ExecutorTools): Executor {
  const stopping = new AbortController()
  const { signal } = stopping
  let wake = () => {}
  let running = Promise.resolve()
  let owner: Promise<V1OwnerReference | undefined> | undefined
  /** Runs whose Job could not be created: when to retry, and the last pause. */
  const backoff = new Map<string, { until: number; pauseMs: number }>()
  /** When the Job of a run was first seen running. */
  const runningSince = new Map<string, number>()
  /** When the Job of a run was first seen suspended with outdated settings. */
  const outdatedSince = new Map<string, number>()
  const currentHash = settingsHash(settings)
  const watch = watchJobs(api, () => wake(), log)
  const ended = metrics.counter('vitascope_encoding_kubernetes_jobs_ended_total', 'Ended Kubernetes Jobs, by outcome', ['outcome'])
  // Each outcome starts at zero, so that `increase()` counts its first Job.
  for (const outcome of OUTCOMES) ended.inc({ outcome }, 0)
  const failed = metrics.counter('vitascope_encoding_kubernetes_errors_total', 'Failed attempts to create, read or delete Kubernetes Jobs')

  const pass = async () => {
    // The cluster is read before the database. In the other order, a Job whose run another replica
    // has just opened would be removed as one without a run.
    const watched = watch.jobs()
    if (!watched) return
    const jobs = new Map(watched)
    const runs = await openRuns(db.query)
    const runsByName = new Map(runs.map((run) => [kubernetesJobName(settings.instance, run), run]))
    const hasNormalRun = runs.some(({ lowPriority }) => !lowPriority)
    for (const [name, run] of runsByName) {
      const job = jobs.get(name)
      // A Job that already exists continues.
      if (!job && run.lowPriority && hasNormalRun) continue
      await catchFailure(() => reconcile(run, job), { kubernetes_job: name, job_id: run.jobId })
    }
    for (const [name, job] of jobs)
      if (!runsByName.has(name) && !isBeingDeleted(job)) await catchFailure(() => api.remove(job), { kubernetes_job: name })
    const open = new Set(runs.map(({ runId }) => runId))
    for (const memory of [backoff, runningSince, outdatedSince])
      for (const runId of memory.keys()) if (!open.has(runId)) memory.delete(runId)
  }

  const reconcile = async (run: OpenRun, job: V1Job | undefined) => {
    if (!job) return create(run)
    if (isBeingDeleted(job)) return
    if (!belongsTo(job, run)) return api.remove(job)
    const end = findEndReason(job)
    if (end !== undefined) return finish(run, job, end)
    if (isStalled(run, job)) return finish(run, job, 'stalled')
    if (!isOutdated(run, job)) return
    log.info(
      { kubernetes_job: kubernetesJobName(settings.instance, run), job_id: run.jobId },
      'pending Kubernetes Job has outdated settings; recreating it',
    )
    await api.remove(job)
    outdatedSince.delete(run.runId)
  }

  /**
   * Returns true if a Job has shown no activity for too long, counted from when it was first seen
   * running. A suspended Job may wait without limit.
   */
  const isStalled = ({ runId, staleSeconds }: OpenRun, { status, spec }: V1Job) => {
    const isRunning = status?.startTime !== undefined && !spec?.suspend
    if (!isRunning) runningSince.delete(runId)
    else if (!runningSince.has(runId)) runningSince.set(runId, performance.now())
    const seconds = (performance.now() - (runningSince.get(runId) ?? performance.now())) / 1_000
    return Math.min(seconds, staleSeconds) > settings.stallSeconds
  }

  /**
   * Returns true if a Job has been suspended with outdated settings for `stallSeconds`. Without
   * this delay, replicas of two releases would replace each other's Jobs during an upgrade.
   */
  const isOutdated = ({ runId }: OpenRun, job: V1Job) => {
    if (!isSuspendedAndOutdated(job, currentHash)) outdatedSince.delete(runId)
    else if (!outdatedSince.has(runId)) outdatedSince.set(runId, performance.now())
    return (performance.now() - (outdatedSince.get(runId) ?? performance.now())) / 1_000 > settings.stallSeconds
  }

  const create = async (run: ChunkRun) => {
    const lastFailure = backoff.get(run.runId)
    if (lastFailure && performance.now() < lastFailure.until) return
    try {
      const job = await readJob(db.query, run.jobId)
      if (!job?.source || !job.plan) return
      const needs = estimatePodNeeds(job.plan, job.source.bytes)
      owner ??= api.owner()
      const manifest = jobManifest(settings, run, needs, await owner)
      const name = kubernetesJobName(settings.instance, run)
      if (await api.create(manifest)) {
        log.info({ kubernetes_job: name, job_id: run.jobId, chunks: run.chunks.length, ...needs }, 'Kubernetes Job created for chunks')
      } else {
        // Usually it is the same Job: the response was lost, or another replica created it first.
        const existing = await api.read(name)
        if (existing && !belongsTo(existing, run)) await api.remove(existing)
      }
      backoff.delete(run.runId)
    } catch (error) {
      owner = undefined
      const pauseMs = Math.min(MAX_PAUSE_MS, (lastFailure?.pauseMs ?? PASS_MS / 2) * 2)
      backoff.set(run.runId, { until: performance.now() + pauseMs, pauseMs })
      throw error
    }
  }

  /**
   * Ends a run. Its open chunks go to the next run. Chunks whose pods died without a report are
   * charged one attempt.
   */
  const finish = async (run: ChunkRun, job: V1Job, outcome: string) => {
    if (!(await endRun(db.query, run))) return
    ended.inc({ outcome })
    const failedChunks = listChunks(job, run, readIndexes(job.status?.failedIndexes))
    const chargedChunks = outcome === 'DeadlineExceeded' ? 'started' : outcome === 'stalled' ? [] : failedChunks
    log.warn(
      { kubernetes_job: kubernetesJobName(settings.instance, run), job_id: run.jobId, outcome, failed: chargedChunks },
      'Kubernetes Job ended before its chunks were encoded',
    )
    for (const { item_id: itemId } of await openItems(db.query, run, chargedChunks)) {
      const item = await queue.lease({ kinds: ['encode'], holder: 'executor', leaseMs: CHARGE_LEASE_MS, itemId }, signal)
      if (item) await steps.fault(item, { code: 5001, message: 'the worker stopped responding' })
    }
  }

  /** Calls a function. If it fails, logs and counts the failure, and the next pass retries. */
  const catchFailure = async (run: () => Promise<void>, context: Record<string, string>) => {
    try {
      await run()
    } catch (error) {
      if (signal.aborted) return
      failed.inc()
      log.warn({ err: error, ...context }, 'reconciling a Kubernetes Job failed; retrying')
    }
  }

  const passes = async () => {
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      await catchFailure(pass, {})
      await Promise.race([woken, delay(PASS_MS, undefined, { signal }).catch(() => {})])
      await delay(MIN_PAUSE_MS, undefined, { signal }).catch(() => {})
    }
  }

  return {
    start() {
      running = Promise.all([passes(), watch.run(signal)]).then(() => {})
    },
    async stop() {
      stopping.abort()
      await running
    },
  }
}

/**
 * `FailureTarget` is set as soon as the failure is decided. `Failed` waits for the last pod, which
 * on a lost node may take forever.
 */
const ENDS: readonly string[] = ['Complete', 'FailureTarget', 'Failed']

/** Returns why a Job has ended or is about to end, or undefined while it runs. */
function findEndReason({ status }: V1Job): string | undefined {
  const end = status?.conditions?.find(({ type, status: is }) => ENDS.includes(type) && is === 'True')
  return end && (end.type === 'Complete' ? 'complete' : (end.reason ?? 'failed'))
}

function isBeingDeleted({ metadata }: V1Job): boolean {
  return metadata?.deletionTimestamp !== undefined
}
