import { setTimeout as delay } from 'node:timers/promises'
import type { V1Job, V1OwnerReference } from '@kubernetes/client-node'
import type { EncodePlan } from '@vitascope/media'
import type { Db } from '@vitascope/postgres'
import type { Queue } from '@vitascope/queue'
import type { Logger, Metrics } from '@vitascope/telemetry'
import { readJob } from '../job/job-store.ts'
import type { TaskSteps } from '../work/task-steps.ts'
import type { KubernetesSettings } from './executor-config.ts'
import type { JobApi } from './job-api.ts'
import { chunksOfIndexes, isJobOf, jobManifest, markOf, needsOf, waitsOutdated } from './job-manifest.ts'
import { watchJobs } from './job-watch.ts'
import { nameOfRun, type Run, readIndexes } from './run.ts'
import { endRun, type OpenRun, openItems, openRuns } from './run-store.ts'

export interface ExecutorTools {
  db: Db
  queue: Queue
  steps: TaskSteps
  api: JobApi
  settings: KubernetesSettings
  log: Logger
  metrics: Metrics
}

export interface Executor {
  start(): void
  stop(): Promise<void>
}

const PASS_MS = 1_000
const LEAST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 60_000
/** For as long as it takes to note a fault. */
const CHARGE_LEASE_MS = 30_000

/**
 * Sees to it that there is a Job in the cluster for each run in the database, and no other: what should be is compared with what is, again and
 * again, and each difference is put right by a call that may be repeated. A Job is only capacity. Its pods ask this service for their
 * chunks, and the leases of the queue decide; so whatever becomes of a Job, of the API server or of this process, no work is lost or done twice.
 * A run that gives way has no Job made while one is open that does not.
 *
 *     chunks to be made --> run --> Job --its end, with chunks still to be made--> run ended, next run
 *     nothing left to be made, or the job cancelled --> run ended --> Job removed
 *     still suspended, and made with other settings --> Job removed, and made anew for the same run
 */
export function createExecutor({ db, queue, steps, api, settings, log, metrics }: ExecutorTools): Executor {
  const stopping = new AbortController()
  const { signal } = stopping
  let wake = () => {}
  let running = Promise.resolve()
  let owner: Promise<V1OwnerReference | undefined> | undefined
  /** Runs whose Job could not be made: when it is tried again, and after which pause. */
  const held = new Map<string, { until: number; pauseMs: number }>()
  /** When the Job of a run was first seen to run. */
  const begun = new Map<string, number>()
  /** When the Job of a run was first seen to wait with settings of before. */
  const outdated = new Map<string, number>()
  const mark = markOf(settings)
  const watch = watchJobs(api, () => wake(), log)
  const ended = metrics.counter('vitascope_encode_runs_total', 'Runs of chunks on Kubernetes by how they ended', ['outcome'])
  const failed = metrics.counter(
    'vitascope_kubernetes_failures_total',
    'Attempts to make the Jobs of the cluster as they should be that failed',
  )

  const pass = async () => {
    // First what the cluster has, then what it should have: a Job of a run that another replica has just begun is thus never taken for one of no run.
    const known = watch.jobs()
    if (!known) return
    const jobs = new Map(known)
    const runs = await openRuns(db.query)
    const wanted = new Map(runs.map((run) => [nameOfRun(settings.instance, run), run]))
    const othersAreFirst = runs.some(({ givesWay }) => !givesWay)
    for (const [name, run] of wanted) {
      const job = jobs.get(name)
      // A Job that is there already goes on.
      if (!job && run.givesWay && othersAreFirst) continue
      await attempt(() => tend(run, job), { run: name, job: run.jobId })
    }
    for (const [name, job] of jobs) if (!wanted.has(name) && !isGoing(job)) await attempt(() => api.remove(job), { run: name })
    const open = new Set(runs.map(({ runId }) => runId))
    for (const memory of [held, begun, outdated]) for (const runId of memory.keys()) if (!open.has(runId)) memory.delete(runId)
  }

  const tend = async (run: OpenRun, job: V1Job | undefined) => {
    if (!job) return create(run)
    if (isGoing(job)) return
    if (!isJobOf(job, run)) return api.remove(job)
    const end = endOf(job)
    if (end !== undefined) return conclude(run, job, end)
    if (isStalled(run, job)) return conclude(run, job, 'stalled')
    if (!isOutdated(run, job)) return
    log.info({ run: nameOfRun(settings.instance, run), job: run.jobId }, 'a Job that waits was made with other settings: it is made anew')
    await api.remove(job)
    outdated.delete(run.runId)
  }

  /** Nothing was heard of it for too long, counted from when it was first seen to run: one that is suspended waits as long as it has to. */
  const isStalled = ({ runId, quietSeconds }: OpenRun, { status, spec }: V1Job) => {
    const isRunning = status?.startTime !== undefined && !spec?.suspend
    if (!isRunning) begun.delete(runId)
    else if (!begun.has(runId)) begun.set(runId, performance.now())
    const seconds = (performance.now() - (begun.get(runId) ?? performance.now())) / 1_000
    return Math.min(seconds, quietSeconds) > settings.stallSeconds
  }

  /** Only after a while: in the middle of an upgrade replicas of both releases would replace each other's Jobs. */
  const isOutdated = ({ runId }: OpenRun, job: V1Job) => {
    if (!waitsOutdated(job, mark)) outdated.delete(runId)
    else if (!outdated.has(runId)) outdated.set(runId, performance.now())
    return (performance.now() - (outdated.get(runId) ?? performance.now())) / 1_000 > settings.stallSeconds
  }

  const create = async (run: Run) => {
    const hold = held.get(run.runId)
    if (hold && performance.now() < hold.until) return
    try {
      const job = await readJob(db.query, run.jobId)
      if (!job?.source || job.plan === undefined) return
      const needs = needsOf(job.plan as EncodePlan, job.source.bytes)
      owner ??= api.owner()
      const manifest = jobManifest(settings, run, needs, await owner)
      const name = nameOfRun(settings.instance, run)
      if (await api.create(manifest)) {
        log.info({ run: name, job: run.jobId, chunks: run.chunks.length, ...needs }, 'a Job was made for the chunks of a job')
      } else {
        // Ours, where an answer was lost or another replica was faster.
        const found = await api.read(name)
        if (found && !isJobOf(found, run)) await api.remove(found)
      }
      held.delete(run.runId)
    } catch (error) {
      owner = undefined
      const pauseMs = Math.min(LONGEST_PAUSE_MS, (hold?.pauseMs ?? PASS_MS / 2) * 2)
      held.set(run.runId, { until: performance.now() + pauseMs, pauseMs })
      throw error
    }
  }

  /** What is still to be made goes to the next run; chunks whose pods died without a word have had one of their tries. */
  const conclude = async (run: Run, job: V1Job, outcome: string) => {
    if (!(await endRun(db.query, run))) return
    ended.inc({ outcome })
    const failedOnes = chunksOfIndexes(job, run, readIndexes(job.status?.failedIndexes))
    const which = outcome === 'DeadlineExceeded' ? 'begun' : outcome === 'stalled' ? [] : failedOnes
    log.warn({ run: nameOfRun(settings.instance, run), job: run.jobId, outcome, failed: which }, 'a Job ended before its chunks were made')
    for (const { item_id: itemId } of await openItems(db.query, run, which)) {
      const item = await queue.lease({ kinds: ['encode'], holder: 'executor', leaseMs: CHARGE_LEASE_MS, itemId }, signal)
      if (item) await steps.fault(item, { code: 5001, message: 'the worker was lost' })
    }
  }

  const attempt = async (what: () => Promise<void>, about: Record<string, string>) => {
    try {
      await what()
    } catch (error) {
      if (signal.aborted) return
      failed.inc()
      log.warn({ err: error, ...about }, 'a Job of the cluster could not be seen to: trying again')
    }
  }

  const passes = async () => {
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve
      })
      await attempt(pass, {})
      await Promise.race([woken, delay(PASS_MS, undefined, { signal }).catch(() => {})])
      await delay(LEAST_PAUSE_MS, undefined, { signal }).catch(() => {})
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

/** `FailureTarget` is set as soon as it is decided; `Failed` waits for the last pod, and that of a lost node may take for ever. */
const ENDS: readonly string[] = ['Complete', 'FailureTarget', 'Failed']

/** Why a Job has ended, or is about to; undefined while it has not. */
function endOf({ status }: V1Job): string | undefined {
  const end = status?.conditions?.find(({ type, status: is }) => ENDS.includes(type) && is === 'True')
  return end && (end.type === 'Complete' ? 'complete' : (end.reason ?? 'failed'))
}

function isGoing({ metadata }: V1Job): boolean {
  return metadata?.deletionTimestamp !== undefined
}
