import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AuthorizationV1Api, BatchV1Api, CoreV1Api, KubeConfig, RbacAuthorizationV1Api, type V1Pod } from '@kubernetes/client-node'
import { startCertManager, stopCertManager } from '../../../cluster/cert-manager.ts'
import { type ClusterLocation, startApiServer } from '../../../cluster/control-plane.ts'
import { formatKubeconfig, toKubeconfigPath } from '../../../cluster/keys.ts'
import { stopProgram } from '../../../cluster/program.ts'

/** Opens the cluster that `npm run test:cluster` has started, as administrator. */
export function openCluster() {
  const file = process.env['VITASCOPE_TEST_CLUSTER']
  if (file === undefined) throw new Error('there is no cluster: npm run test:cluster starts one')
  const location = JSON.parse(readFileSync(file, 'utf8')) as ClusterLocation
  const config = new KubeConfig()
  config.loadFromFile(toKubeconfigPath(location.folder, 'admin'))
  const core = config.makeApiClient(CoreV1Api)
  const rbac = config.makeApiClient(RbacAuthorizationV1Api)
  return {
    core,
    batch: config.makeApiClient(BatchV1Api),
    stopApiServer: () => stopProgram(location.folder, 'apiserver', 0),
    startApiServer: () => startApiServer(location),
    startCertManager: () => startCertManager(location),
    stopCertManager: () => stopCertManager(location),
    /** Runs kubectl with these objects as its input, and returns its stdout. Throws an error with its stderr on failure. */
    kubectl(args: readonly string[], objects: readonly unknown[]): string {
      const input = objects.map((object) => JSON.stringify(object)).join('\n---\n')
      const env = { KUBECONFIG: toKubeconfigPath(location.folder, 'admin'), HOME: location.folder }
      const { status, stdout, stderr } = spawnSync(join(location.programs, 'kubectl'), args, { input, encoding: 'utf8', env })
      if (status !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
      return stdout
    },
    /** Writes a kubeconfig of an existing ServiceAccount into a folder, with a token that is valid for one hour. Returns its path. */
    async writeKubeconfig({ namespace, name, folder }: { namespace: string; name: string; folder: string }): Promise<string> {
      const spec = { audiences: [], expirationSeconds: 3_600 }
      const { status } = await core.createNamespacedServiceAccountToken({ namespace, name, body: { spec } })
      const file = join(folder, `${namespace}-${name}.kubeconfig`)
      const authority = join(location.folder, 'keys/ca.crt')
      writeFileSync(file, formatKubeconfig(`https://${location.address}:${location.ports.api}`, authority, status?.token ?? ''), {
        mode: 0o600,
      })
      return file
    },
    /** Creates a namespace that enforces the Pod Security Standard `restricted`. */
    async makeNamespace(name: string): Promise<void> {
      const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
      await core.createNamespace({ body: { metadata: { name, labels } } })
    },
    /** Creates a node that is ready, but has no kubelet. Tests set the status of its pods. */
    async makeNode(name: string): Promise<void> {
      const capacity = { cpu: '64', memory: '256Gi', 'ephemeral-storage': '1Ti', pods: '100' }
      await core.createNode({ body: { metadata: { name } } })
      const status = { capacity, allocatable: capacity, conditions: [{ type: 'Ready', status: 'True' }] }
      await core.replaceNodeStatus({ name, body: { metadata: { name }, status } })
      // The API server adds a not-ready taint. The node lifecycle controller, which would remove it, does not run.
      await core.replaceNode({ name, body: { metadata: { name }, spec: {} } })
    },
    /** Creates a ServiceAccount with these permissions in its namespace. */
    async makeAccount(
      { namespace, name }: { namespace: string; name: string },
      rules: readonly { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }[],
    ): Promise<void> {
      await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name } } })
      await rbac.createNamespacedRole({ namespace, body: { metadata: { name }, rules: [...rules] } })
      const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name }
      const subjects = [{ kind: 'ServiceAccount', name, namespace }]
      await rbac.createNamespacedRoleBinding({ namespace, body: { metadata: { name }, roleRef, subjects } })
    },
    /** Returns whether the user of a kubeconfig has a permission. */
    async isAllowed(
      kubeconfig: string,
      resourceAttributes: { namespace: string; verb: string; resource: string; group?: string; name?: string },
    ) {
      const user = new KubeConfig()
      user.loadFromFile(kubeconfig)
      const api = user.makeApiClient(AuthorizationV1Api)
      const { status } = await api.createSelfSubjectAccessReview({ body: { spec: { resourceAttributes } } })
      return status?.allowed ?? false
    },
  }
}

export type TestCluster = ReturnType<typeof openCluster>

/** Simulates a kubelet for the pods of a namespace. */
export function createKubelet({ core }: TestCluster, namespace: string) {
  const setStatus = async (pod: V1Pod, phase: string, exitCode?: number) => {
    const name = pod.metadata?.name ?? ''
    // Reads the current pod, because an eviction adds its own conditions.
    const current = await core.readNamespacedPod({ namespace, name })
    const container = current.spec?.containers[0]
    const now = new Date()
    const state = exitCode === undefined ? { running: { startedAt: now } } : { terminated: { exitCode, startedAt: now, finishedAt: now } }
    const statuses = [
      { name: container?.name ?? '', image: container?.image ?? '', imageID: '', ready: exitCode === undefined, restartCount: 0, state },
    ]
    const status = { ...current.status, phase, containerStatuses: statuses }
    await core.replaceNamespacedPodStatus({ namespace, name, body: { ...current, status } })
  }
  return {
    /** Returns the pods of a Job that are scheduled and have not ended, by completion index. */
    async pods(job: string): Promise<Map<number, V1Pod>> {
      const { items } = await core.listNamespacedPod({ namespace, labelSelector: `batch.kubernetes.io/job-name=${job}` })
      const active = items.filter(
        ({ metadata, spec, status }) =>
          metadata?.deletionTimestamp === undefined &&
          spec?.nodeName !== undefined &&
          ['Pending', 'Running'].includes(status?.phase ?? 'Pending'),
      )
      const readCompletionIndex = (pod: V1Pod) => Number(pod.metadata?.labels?.['batch.kubernetes.io/job-completion-index'])
      return new Map(active.map((pod) => [readCompletionIndex(pod), pod]))
    },
    /** Sets the status of a pod to running and ready. */
    run: (pod: V1Pod) => setStatus(pod, 'Running'),
    /** Ends a pod with an exit code. */
    end: (pod: V1Pod, exitCode: number) => setStatus(pod, exitCode === 0 ? 'Succeeded' : 'Failed', exitCode),
    /** Evicts a pod as `kubectl drain` does: the pod ends by SIGTERM (exit code 143) and is deleted. */
    async evict(pod: V1Pod): Promise<void> {
      const name = pod.metadata?.name ?? ''
      await core.createNamespacedPodEviction({ namespace, name, body: { metadata: { name, namespace } } })
      await setStatus(pod, 'Failed', 143)
      await core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 })
    },
  }
}
