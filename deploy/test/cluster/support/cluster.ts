import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AuthorizationV1Api, BatchV1Api, CoreV1Api, KubeConfig, RbacAuthorizationV1Api, type V1Pod } from '@kubernetes/client-node'
import { startCertManager, stopCertManager } from '../../../cluster/cert-manager.ts'
import { type Place, startApiServer } from '../../../cluster/control-plane.ts'
import { kubeconfig, kubeconfigOf } from '../../../cluster/keys.ts'
import { stopProgram } from '../../../cluster/program.ts'

/** The cluster that `npm run test:cluster` has started, as its administrator sees it. */
export function openCluster() {
  const file = process.env['VITASCOPE_TEST_CLUSTER']
  if (file === undefined) throw new Error('there is no cluster: npm run test:cluster starts one')
  const place = JSON.parse(readFileSync(file, 'utf8')) as Place
  const config = new KubeConfig()
  config.loadFromFile(kubeconfigOf(place.folder, 'admin'))
  const core = config.makeApiClient(CoreV1Api)
  const rbac = config.makeApiClient(RbacAuthorizationV1Api)
  return {
    core,
    batch: config.makeApiClient(BatchV1Api),
    stopApiServer: () => stopProgram(place.folder, 'apiserver', 0),
    startApiServer: () => startApiServer(place),
    startCertManager: () => startCertManager(place),
    stopCertManager: () => stopCertManager(place),
    /** What kubectl says of these objects; throws it when it fails. */
    kubectl(args: readonly string[], objects: readonly unknown[]): string {
      const input = objects.map((object) => JSON.stringify(object)).join('\n---\n')
      const env = { KUBECONFIG: kubeconfigOf(place.folder, 'admin'), HOME: place.folder }
      const { status, stdout, stderr } = spawnSync(join(place.programs, 'kubectl'), args, { input, encoding: 'utf8', env })
      if (status !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`)
      return stdout
    },
    /** The kubeconfig of a service account that is there. */
    async accountOf({ namespace, name, folder }: { namespace: string; name: string; folder: string }): Promise<string> {
      const spec = { audiences: [], expirationSeconds: 3_600 }
      const { status } = await core.createNamespacedServiceAccountToken({ namespace, name, body: { spec } })
      const own = join(folder, `${namespace}-${name}.kubeconfig`)
      const authority = join(place.folder, 'keys/ca.crt')
      writeFileSync(own, kubeconfig(`https://${place.address}:${place.ports.api}`, authority, status?.token ?? ''), { mode: 0o600 })
      return own
    },
    /** With pods that keep to the restricted standard, and no others. */
    async makeNamespace(name: string): Promise<void> {
      const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
      await core.createNamespace({ body: { metadata: { name, labels } } })
    },
    /** A node that never says a word: pods go there, and become what a test says. */
    async makeNode(name: string): Promise<void> {
      const room = { cpu: '64', memory: '256Gi', 'ephemeral-storage': '1Ti', pods: '100' }
      await core.createNode({ body: { metadata: { name } } })
      const status = { capacity: room, allocatable: room, conditions: [{ type: 'Ready', status: 'True' }] }
      await core.replaceNodeStatus({ name, body: { metadata: { name }, status } })
      // It begins with a taint that only a kubelet's word would take away.
      await core.replaceNode({ name, body: { metadata: { name }, spec: {} } })
    },
    /** A service account with these rights in its namespace. */
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
    /** Whether the user of a kubeconfig may do this. */
    async may(own: string, resourceAttributes: { namespace: string; verb: string; resource: string; group?: string; name?: string }) {
      const user = new KubeConfig()
      user.loadFromFile(own)
      const api = user.makeApiClient(AuthorizationV1Api)
      const { status } = await api.createSelfSubjectAccessReview({ body: { spec: { resourceAttributes } } })
      return status?.allowed ?? false
    },
  }
}

export type TestCluster = ReturnType<typeof openCluster>

/** What a kubelet would have done with the pods of a namespace. */
export function kubeletOf({ core }: TestCluster, namespace: string) {
  const setStatus = async (pod: V1Pod, phase: string, exitCode?: number) => {
    const name = pod.metadata?.name ?? ''
    // As it stands now: the conditions of a pod that is evicted are its own.
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
    /** The pods of a Job that are neither ended nor about to be, by index. */
    async pods(job: string): Promise<Map<number, V1Pod>> {
      const { items } = await core.listNamespacedPod({ namespace, labelSelector: `batch.kubernetes.io/job-name=${job}` })
      const alive = items.filter(
        ({ metadata, spec, status }) =>
          metadata?.deletionTimestamp === undefined &&
          spec?.nodeName !== undefined &&
          ['Pending', 'Running'].includes(status?.phase ?? 'Pending'),
      )
      const indexOf = (pod: V1Pod) => Number(pod.metadata?.labels?.['batch.kubernetes.io/job-completion-index'])
      return new Map(alive.map((pod) => [indexOf(pod), pod]))
    },
    run: (pod: V1Pod) => setStatus(pod, 'Running'),
    end: (pod: V1Pod, exitCode: number) => setStatus(pod, exitCode === 0 ? 'Succeeded' : 'Failed', exitCode),
    /** As `kubectl drain` does: the pod is asked to go, ends by SIGTERM, and is gone. */
    async evict(pod: V1Pod): Promise<void> {
      const name = pod.metadata?.name ?? ''
      await core.createNamespacedPodEviction({ namespace, name, body: { metadata: { name, namespace } } })
      await setStatus(pod, 'Failed', 143)
      await core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 })
    },
  }
}
