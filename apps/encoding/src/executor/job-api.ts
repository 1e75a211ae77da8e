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
import { selectorOf } from './job-manifest.ts'

/** The part of the Kubernetes API that is needed: Jobs of one namespace that belong to this installation, and the ConfigMap that owns them. */
export interface JobApi {
  /** False when a Job of this name is there already. */
  create(job: V1Job): Promise<boolean>
  /** Undefined when there is none. */
  read(name: string): Promise<V1Job | undefined>
  /** Removes this very Job and its pods; one that is gone, or another of its name, changes nothing. */
  remove(job: V1Job): Promise<void>
  list(): Promise<{ jobs: V1Job[]; resourceVersion: string }>
  /** Tells of every change after a version until the server ends it; throws when it is cut, or that version is too old. */
  watch(resourceVersion: string, onChange: (change: JobChange) => void, signal: AbortSignal): Promise<void>
  /** What a Job names as its owner; undefined when none is asked for. */
  owner(): Promise<V1OwnerReference | undefined>
}

export interface JobChange {
  isGone: boolean
  job: V1Job
}

const CALL_MS = 10_000
/** The server ends a watch after this long, and all Jobs are listed anew. */
const WATCH_SECONDS = 300

/** Whatever is asked ends with `stopping`. */
export function openJobApi(settings: KubernetesSettings, stopping: AbortSignal): JobApi {
  const { namespace, owner } = settings
  const config = new KubeConfig()
  if (settings.kubeconfig === undefined) config.loadFromCluster()
  else config.loadFromFile(settings.kubeconfig)
  const batch = config.makeApiClient(BatchV1Api)
  const core = config.makeApiClient(CoreV1Api)
  const watch = new Watch(config)
  const labelSelector = selectorOf(settings)
  const within = () => callWithin(CALL_MS, stopping)

  return {
    create: (body) => unless(409, batch.createNamespacedJob({ namespace, body }, within()).then(isThere), false),
    read: (name) => unless(404, batch.readNamespacedJob({ namespace, name }, within()), undefined),
    async remove({ metadata }) {
      const body = { propagationPolicy: 'Background', preconditions: { uid: metadata?.uid ?? '' } }
      const removed = batch.deleteNamespacedJob({ namespace, name: metadata?.name ?? '', body }, within()).then(isThere)
      // 409: it has another uid.
      await unless(404, unless(409, removed, false), false)
    },
    async list() {
      const { items, metadata } = await batch.listNamespacedJob({ namespace, labelSelector }, within())
      return { jobs: items, resourceVersion: metadata?.resourceVersion ?? '' }
    },
    async watch(resourceVersion, onChange, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      // What comes after the end of the wait below is of no use to anybody.
      promise.catch(() => {})
      const onEvent = (phase: string, object: unknown) => {
        if (phase === 'ERROR') reject(new Error(`the watch failed: ${(object as { message?: string }).message ?? 'no reason'}`))
        else if (phase !== 'BOOKMARK') onChange({ isGone: phase === 'DELETED', job: object as V1Job })
      }
      const path = `/apis/batch/v1/namespaces/${encodeURIComponent(namespace)}/jobs`
      const query = { labelSelector, resourceVersion, allowWatchBookmarks: true, timeoutSeconds: WATCH_SECONDS }
      const abort = () => reject(signal.reason)
      signal.addEventListener('abort', abort, { once: true })
      const request = watch.watch(path, query, onEvent, (error: unknown) => (error ? reject(error) : resolve()))
      try {
        signal.throwIfAborted()
        // A server that does not answer keeps the request from beginning, and must not keep this from ending.
        await Promise.race([request.then(() => promise), promise])
      } finally {
        signal.removeEventListener('abort', abort)
        request.then((begun) => begun.abort()).catch(() => {})
      }
    },
    async owner() {
      if (owner === undefined) return undefined
      const { metadata } = await core.readNamespacedConfigMap({ namespace, name: owner }, within())
      return { apiVersion: 'v1', kind: 'ConfigMap', name: owner, uid: metadata?.uid ?? '' }
    },
  }
}

const isThere = () => true

/** The answer, or `instead` where the server answers with this status. */
async function unless<Answer, Instead>(status: number, call: Promise<Answer>, instead: Instead): Promise<Answer | Instead> {
  try {
    return await call
  } catch (error) {
    if ((error as { code?: unknown }).code === status) return instead
    throw error
  }
}

/** A call that the server does not answer ends. */
function callWithin(ms: number, stopping: AbortSignal): ConfigurationOptions {
  const limit: ObservableMiddleware = {
    pre(context) {
      context.setSignal(AbortSignal.any([stopping, AbortSignal.timeout(ms)]))
      return new Observable(Promise.resolve(context))
    },
    post: (answer) => new Observable(Promise.resolve(answer)),
  }
  return { middleware: [limit], middlewareMergeStrategy: 'append' }
}
