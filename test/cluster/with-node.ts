import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type ClusterLocation, start, startControlPlane, stopControlPlane } from './control-plane.ts'
import { failedStart } from './failed-start.ts'
import { BUILT, ensureGoModule } from './go-program.ts'
import { provideHyperkube } from './hyperkube.ts'
import { IMAGES, type ImageArchive, provideImages } from './images/images.ts'
import { toKubeconfigPath } from './keys.ts'
import { makeCgroups, removeCgroups } from './node/cgroups.ts'
import { importImages, startContainerd, stopContainerd, unmountBelow } from './node/containerd.ts'
import { kubelet, kubeProxy, metricsServer, NODE } from './node/kubelet.ts'
import { makeNetwork, NETWORK, removeNetwork, withinNetwork } from './node/network.ts'
import { clusterObjects } from './node/objects.ts'
import { NODE_PACKAGES, providePackages } from './node/packages.ts'
import { stopProgram } from './program.ts'
import { run } from './run.ts'

/** A cluster with one node. Starting it requires root. */
export interface ClusterWithNode {
  location: ClusterLocation
  kubeconfig: string
  stop(): Promise<void>
}

/** Image layers are kept between clusters. */
const LAYERS = join(BUILT, 'containerd')
/** Marker file in the folder of a cluster with a node. */
const MARK = 'with-node'
/** Programs that run in addition to the control plane and containerd, in the order in which they are stopped. */
const NODE_PROGRAMS = ['policies', 'metrics-server', 'kube-proxy', 'kubelet']

/**
 * Starts Kubernetes on this machine: a kubelet with containers, DNS, services, volumes, metrics,
 * and an enforcer of network policies. Only one cluster can run at a time. Its images are those of
 * this checkout.
 */
export async function startWithNode(folder: string): Promise<ClusterWithNode> {
  if (process.getuid?.() !== 0) throw new Error('a cluster with a node requires root')
  await providePackages(NODE_PACKAGES)
  const programs = await provideHyperkube()
  const metrics = await ensureGoModule('metrics-server', 'sigs.k8s.io/metrics-server/cmd/metrics-server@v0.9.0')
  const images = await provideImages()
  const location: ClusterLocation = {
    folder,
    programs,
    within: withinNetwork,
    address: NETWORK.gatewayAddress,
    advertise: NETWORK.node,
    ports: { api: 16443, etcd: 12379, peers: 12380 },
    hasNodes: true,
  }
  await makeNetwork()
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, MARK), '')
  try {
    const kubeconfig = await startControlPlane(location)
    await startNode(location, { metrics, images })
    return { location, kubeconfig, stop: () => stopWithNode(folder) }
  } catch (error) {
    throw await failedStart(folder, error, () => stopWithNode(folder))
  }
}

/** Removes a cluster in any state: processes, mounts, networks, cgroups and data. */
export async function stopWithNode(folder: string): Promise<void> {
  for (const name of NODE_PROGRAMS) await stopProgram(folder, name, 1_000)
  await stopContainerd(folder)
  await stopControlPlane(folder)
  await unmountBelow(join(folder, 'kubelet'), LAYERS)
  await removeNetwork()
  removeCgroups()
  rmSync(folder, { recursive: true, force: true })
}

async function startNode(
  cluster: ClusterLocation,
  { metrics, images }: { metrics: string; images: readonly ImageArchive[] },
): Promise<void> {
  const { folder } = cluster
  makeCgroups()
  await startContainerd({ folder, images: LAYERS, pause: IMAGES.pause })
  await importImages(images)
  start(cluster, kubelet(cluster))
  start(cluster, kubeProxy(cluster))
  start(cluster, metricsServer(cluster, metrics))
  const server = `https://${cluster.address}:${cluster.ports.api}`
  const enforcer = join(import.meta.dirname, 'policies/enforcer.ts')
  const args = [enforcer, server, join(folder, 'keys/admin.token'), join(folder, 'keys/ca.crt')]
  start(cluster, { name: 'policies', command: process.execPath, args: ['--disable-warning=ExperimentalWarning', ...args] })

  const kubectl = (...args: string[]) =>
    run(join(cluster.programs, 'kubectl'), `--kubeconfig=${toKubeconfigPath(folder, 'admin')}`, ...args)
  const objects = join(folder, 'objects.json')
  writeFileSync(objects, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: clusterObjects(folder) }))
  await kubectl('apply', '-f', objects)
  await retryUntilDone(() => kubectl('get', 'node', NODE), 'the node')
  await kubectl('wait', '--for=condition=Ready', `node/${NODE}`, '--timeout=180s')
  await kubectl('--namespace', 'kube-system', 'rollout', 'status', 'deployment/coredns', '--timeout=180s')
}

/** Returns whether a cluster of this folder has a node. */
export function hasNode(folder: string): boolean {
  return existsSync(join(folder, MARK))
}

async function retryUntilDone(attempt: () => Promise<unknown>, description: string): Promise<void> {
  for (const end = performance.now() + 180_000; ; ) {
    try {
      await attempt()
      return
    } catch (error) {
      if (performance.now() > end) throw new Error(`${description} is not ready`, { cause: error })
      await delay(250)
    }
  }
}
