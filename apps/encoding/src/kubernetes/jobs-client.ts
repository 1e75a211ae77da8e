import {
  BatchV1Api,
  type ConfigurationOptions,
  CoreV1Api,
  KubeConfig,
  Observable,
  type ObservableMiddleware,
  type V1Job,
  type V1OwnerReference,
  Watch,
} from '@kubernetes/client-node'
import type { KubernetesSettings } from './executor-config.ts'
import { formatLabelSelector } from './job-manifest.ts'

/**
 * The part of the Kubernetes API in use: Jobs of one namespace that belong to this installation,
 * and the ConfigMap that owns them.
 */
export interface JobsClient {
  /** Creates a Job. Returns false if a Job of this name exists. */
  create(job: V1Job): Promise<boolean>
  /** Returns the Job, or undefined if there is none. */
  read(name: string): Promise<V1Job | undefined>
  /**
   * Removes this Job and its pods. It does nothing if the Job is gone or its name belongs to
   * another one.
   */
  remove(job: V1Job): Promise<void>
  list(): Promise<{ jobs: V1Job[]; resourceVersion: string }>
  /**
   * Reports every change after a version until the server ends the watch. Throws if the connection
   * fails or the version has expired, and with the reason of `signal` when it aborts.
   */
  watch(resourceVersion: string, onChange: (change: JobChange) => void, signal: AbortSignal): Promise<void>
  /** Returns the owner reference of Jobs, or undefined if none is configured. */
  owner(): Promise<V1OwnerReference | undefined>
}

export interface JobChange {
  isDeleted: boolean
  job: V1Job
}

const CALL_TIMEOUT_MS = 10_000
/** The server ends a watch after this time. Then all Jobs are listed again. */
const WATCH_SECONDS = 300

/** Opens the client. All calls except `watch` end when `stopping` aborts. */
export function openJobsClient(settings: KubernetesSettings, stopping: AbortSignal): JobsClient {
  const { namespace, owner } = settings
  const config = new KubeConfig()
  if (settings.kubeconfig === undefined) config.loadFromCluster()
  else config.loadFromFile(settings.kubeconfig)
  const batch = config.makeApiClient(BatchV1Api)
  const core = config.makeApiClient(CoreV1Api)
  const watch = new Watch(config)
  const labelSelector = formatLabelSelector(settings)
  const callOptions = () => optionsWithTimeout(CALL_TIMEOUT_MS, stopping)

  return {
    create: (body) => replaceStatus(409, batch.createNamespacedJob({ namespace, body }, callOptions()).then(returnTrue), false),
    read: (name) => replaceStatus(404, batch.readNamespacedJob({ namespace, name }, callOptions()), undefined),
    async remove({ metadata }) {
      const body = { propagationPolicy: 'Background', preconditions: { uid: metadata?.uid ?? '' } }
      const removed = batch.deleteNamespacedJob({ namespace, name: metadata?.name ?? '', body }, callOptions()).then(returnTrue)
      // 409: another Job has the name, with a different uid.
      await replaceStatus(404, replaceStatus(409, removed, false), false)
    },
    async list() {
      const { items, metadata } = await batch.listNamespacedJob({ namespace, labelSelector }, callOptions())
      return { jobs: items, resourceVersion: metadata?.resourceVersion ?? '' }
    },
    async watch(resourceVersion, onChange, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      // A rejection after the wait below has ended is ignored.
      promise.catch(() => {})
      const onEvent = (phase: string, object: unknown) => {
        if (phase === 'ERROR') reject(new Error(`the watch failed: ${(object as { message?: string }).message ?? 'no reason'}`))
        else if (phase !== 'BOOKMARK') onChange({ isDeleted: phase === 'DELETED', job: object as V1Job })
      }
      const path = `/apis/batch/v1/namespaces/${encodeURIComponent(namespace)}/jobs`
      const query = { labelSelector, resourceVersion, allowWatchBookmarks: true, timeoutSeconds: WATCH_SECONDS }
      const abort = () => reject(signal.reason)
      signal.addEventListener('abort', abort, { once: true })
      const request = watch.watch(path, query, onEvent, (error: unknown) => (error ? reject(error) : resolve()))
      try {
        signal.throwIfAborted()
        // The request does not start while the server is unresponsive, so an abort must end the
        // wait independently.
        await Promise.race([request.then(() => promise), promise])
      } finally {
        signal.removeEventListener('abort', abort)
        request.then((started) => started.abort()).catch(() => {})
      }
    },
    async owner() {
      if (owner === undefined) return undefined
      const { metadata } = await core.readNamespacedConfigMap({ namespace, name: owner }, callOptions())
      return { apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid: metadata?.uid ?? '' }
    },
  }
}

const returnTrue = () => true

/** Returns the response, or `instead` if the call fails with this status. */
async function replaceStatus<Answer, Instead>(status: number, call: Promise<Answer>, instead: Instead): Promise<Answer | Instead> {
  try {
    return await call
  } catch (error) {
    if ((error as { code?: unknown }).code === status) return instead
    throw error
  }
}

/** Returns call options with a timeout. */
function optionsWithTimeout(ms: number, stopping: AbortSignal): ConfigurationOptions {
  const limit: ObservableMiddleware = {
    pre(context) {
      context.setSignal(AbortSignal.any([stopping, AbortSignal.timeout(ms)]))
      return new Observable(Promise.resolve(context))
    },
    post: (response) => new Observable(Promise.resolve(response)),
  }
  return { middleware: [limit], middlewareMergeStrategy: 'append' }
}
