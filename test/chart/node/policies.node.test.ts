import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import type { V1Pod } from '@kubernetes/client-node'
import { waitFor } from '@vitascope/testing'
import { IMAGES } from '../../cluster/images/images.ts'
import { NETWORK } from '../../cluster/node/network.ts'
import { describeChart } from '../support/chart.ts'
import { apply, kubectl, readKubectlJson } from './support/commands.ts'
import { OUTSIDE } from './support/outside.ts'
import { ENCODE, NAMESPACE, prepareRelease } from './support/release.ts'

jest.setTimeout(1_200_000)

const API = `${NETWORK.node}:16443`
const NAMES = 'names:53'
/** Allowed connections by component and port, as in ARCHITECTURE.md. All others are denied. */
const edges: Record<string, string[]> = {
  gateway: [
    'gateway:8080',
    'auth:50051',
    'catalogue:50051',
    'encoding:50051',
    'encoding:8081',
    'collaboration:50051',
    'analytics:50051',
    'delivery:8080',
    'redis:6379',
  ],
  auth: ['catalogue:50051', 'postgres:5432'],
  catalogue: ['auth:50051', 'encoding:50051', 'postgres:5432'],
  encoding: ['catalogue:50051', 'postgres:5432', 'objects:7070', API],
  worker: ['encoding:50051', 'objects:7070'],
  encode: ['encoding:50051', 'objects:7070'],
  // A pod in the namespace of Jobs whose component label is not that of a Job.
  unlabelled: ['objects:7070'],
  delivery: ['catalogue:50051', 'encoding:50051', 'objects:7070'],
  collaboration: ['auth:50051', 'catalogue:50051', 'postgres:5432'],
  analytics: ['catalogue:50051', 'postgres:5432'],
  outsider: [],
}
/**
 * Idle test pods: the pod of a Job is too short-lived for a test, and the others are not part of
 * the release.
 */
const idlePods = { encode: ENCODE, unlabelled: ENCODE, outsider: 'default' }

const pods = new Map<string, V1Pod>()

beforeAll(async () => {
  await prepareRelease()
  const instance = await readInstance()
  await apply(Object.entries(idlePods).map(([name, namespace]) => buildWaitingPod(name, namespace, instance)))
  for (const [name, namespace] of Object.entries(idlePods))
    await kubectl('wait', '--for=condition=Ready', `pod/${name}`, '--namespace', namespace, '--timeout=120s')
  for (const namespace of [NAMESPACE, ENCODE, OUTSIDE, 'default', 'kube-system']) {
    const { items } = await readKubectlJson<{ items: V1Pod[] }>('pods', '--namespace', namespace, '--field-selector=status.phase=Running')
    for (const pod of items) pods.set(describePod(pod), pod)
  }
})
afterAll(async () => {
  for (const [name, namespace] of Object.entries(idlePods))
    await kubectl('delete', 'pod', name, '--namespace', namespace, '--grace-period=0', '--force')
})

function describePod({ metadata }: V1Pod): string {
  const labels = metadata?.labels ?? {}
  if (labels['k8s-app'] === 'kube-dns') return 'names'
  return metadata?.namespace === 'default' ? 'outsider' : (labels['app.kubernetes.io/component'] ?? labels['app'] ?? '')
}

/** Returns the label by which encoding identifies its Jobs. */
async function readInstance(): Promise<string> {
  const path = 'jsonpath={.spec.template.spec.containers[0].env[?(@.name=="VITASCOPE_KUBERNETES_INSTANCE")].value}'
  return (await kubectl('get', 'deployment', 'videos-vitascope-encoding', '--namespace', NAMESPACE, '-o', path)).trim()
}

function buildWaitingPod(name: string, namespace: string, instance: string): object {
  const labels = {
    'app.kubernetes.io/managed-by': 'vitascope-encoding',
    'app.kubernetes.io/instance': instance,
    'app.kubernetes.io/component': name,
  }
  const securityContext = { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } }
  const container = {
    name: 'c',
    image: IMAGES.server,
    imagePullPolicy: 'Never',
    args: ['--eval', 'setInterval(() => {}, 1e9)'],
    securityContext,
  }
  const pod = { runAsNonRoot: true, runAsUser: 10_001, seccompProfile: { type: 'RuntimeDefault' } }
  const spec = { automountServiceAccountToken: false, enableServiceLinks: false, securityContext: pod, containers: [container] }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, labels }, spec }
}

/**
 * Returns the address and port of each tested target by name: the declared ports of the first container
 * of every pod, DNS, and the API server.
 */
function targets(): Record<string, [string, number]> {
  const probes: Record<string, [string, number]> = { [API]: [NETWORK.node, 16443] }
  for (const [name, { status, spec }] of pods) {
    if (name === 'names') probes[NAMES] = [status?.podIP ?? '', 53]
    else
      for (const { containerPort } of spec?.containers[0]?.ports ?? [])
        probes[`${name}:${containerPort}`] = [status?.podIP ?? '', containerPort]
  }
  return probes
}

/** Returns the targets to which a pod can connect. A denied connection times out. */
async function listReachable(name: string, targetAddresses: Record<string, [string, number]>): Promise<string[]> {
  const script = `const { connect } = require('node:net')
for (const [name, [host, port]] of Object.entries(${JSON.stringify(targetAddresses)})) {
  const socket = connect({ host, port })
  socket.setTimeout(3000, () => socket.destroy())
  socket.on('connect', () => { console.log(name); socket.destroy() })
  socket.on('error', () => {})
}`
  const pod = pods.get(name)
  const where = [
    pod?.metadata?.name ?? '',
    '--namespace',
    pod?.metadata?.namespace ?? '',
    '--container',
    pod?.spec?.containers[0]?.name ?? '',
  ]
  const output = await kubectl('exec', ...where, '--', 'node', '--eval', script)
  return output.split('\n').filter(Boolean).sort()
}

describeChart('enforced network policies', () => {
  test.each(Object.keys(edges))('%s has access to its documented targets only', async (name) => {
    const targetAddresses = targets()
    for (const edge of Object.values(edges).flat()) expect(Object.keys(targetAddresses)).toContain(edge)
    // Ingress to the public ports is open for all pods. The chart does not restrict egress of
    // foreign pods.
    const open =
      name === 'outsider' ? ['gateway:8080', NAMES, API, ...Object.keys(targetAddresses).filter((key) => isOutside(key))] : [NAMES]
    const expected = [...new Set([...(edges[name] ?? []), ...open])]
      .filter((key) => !key.startsWith(`${name}:`) || edges[name]?.includes(key))
      .sort()
    // A pod can always reach itself.
    const reached = async () =>
      (await listReachable(name, targetAddresses)).filter((key) => !key.startsWith(`${name}:`) || edges[name]?.includes(key))
    // A policy takes effect half a second after its pod exists.
    let last: string[] = []
    const isAsDocumented = async () => {
      last = await reached()
      return last.join() === expected.join()
    }
    await waitFor(isAsDocumented, { timeout: 10_000, interval: 500, describe: () => `${name} to reach ${expected}, and not ${last}` })
  })

  test('only catalogue and encoding can connect to the configured source networks', async () => {
    // No process listens there: an allowed connection is refused, a denied one times out.
    const cases: [string, boolean][] = [
      ['catalogue', true],
      ['encoding', true],
      ['gateway', false],
      ['worker', false],
      ['auth', false],
    ]
    for (const [name, isAllowed] of cases) expect([name, await isConnectionRefused(name)]).toEqual([name, isAllowed])
  })
})

function isOutside(key: string): boolean {
  return ['postgres:5432', 'redis:6379', 'objects:7070'].includes(key)
}

async function isConnectionRefused(name: string): Promise<boolean> {
  const script = `const socket = require('node:net').connect({ host: '${NETWORK.machine}', port: 1025 })
socket.setTimeout(3000, () => { console.log('silence'); socket.destroy() })
socket.on('error', ({ code }) => console.log(code))`
  const pod = pods.get(name)
  const output = await kubectl('exec', pod?.metadata?.name ?? '', '--namespace', NAMESPACE, '--', 'node', '--eval', script)
  return output.trim() === 'ECONNREFUSED'
}
