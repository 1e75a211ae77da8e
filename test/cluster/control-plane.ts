import { mkdirSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { makeKeys, readToken, toKubeconfigPath } from './keys.ts'
import { type Program, runningPid, startProgram, stopProgram } from './program.ts'

/** Where the programs of a cluster run, and how they are reached. */
export interface ClusterLocation {
  /** Folder of all its data. */
  folder: string
  /** Folder of the servers, as returned by `provideHyperkube`. */
  programs: string
  /** Command prefix of its processes: empty, or `nsenter` with its arguments. */
  within: readonly string[]
  /** Address at which this machine reaches the API server. */
  address: string
  /** Address that the API server advertises inside the cluster. */
  advertise: string
  /** Ports of the API server, and of etcd for its clients and its peers. */
  ports: { api: number; etcd: number; peers: number }
  /** True if there are kubelets. */
  hasNodes: boolean
}

/** Maximum time from the start of the API server until it is ready. */
const READY_MS = 180_000

/**
 * Starts etcd, the API server, the controllers and the scheduler: Kubernetes without nodes. Returns
 * the path of the administrator's kubeconfig when the API is ready.
 */
export async function startControlPlane(cluster: ClusterLocation): Promise<string> {
  const { folder, address, ports } = cluster
  const server = `https://${address}:${ports.api}`
  mkdirSync(folder, { recursive: true })
  const names = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local', 'localhost']
  const addresses = [...new Set(['127.0.0.1', '10.96.0.1', address, cluster.advertise])]
  await makeKeys(folder, { server, names: [...names.map((name) => `DNS:${name}`), ...addresses.map((ip) => `IP:${ip}`)] })
  start(cluster, etcd(cluster))
  await startApiServer(cluster)
  start(cluster, controllers(cluster))
  start(cluster, scheduler(cluster))
  return toKubeconfigPath(folder, 'admin')
}

/** Stops the control plane of the cluster in a folder. Its data remain. */
export async function stopControlPlane(folder: string): Promise<void> {
  // A test may have started cert-manager and not stopped it.
  for (const name of ['cert-manager', 'scheduler', 'controllers', 'apiserver', 'etcd']) await stopProgram(folder, name)
}

/**
 * Starts only the API server, for the first time or again after it was stopped, and waits until it is ready. Throws if it
 * ends, or is not ready after three minutes.
 */
export async function startApiServer(cluster: ClusterLocation): Promise<void> {
  start(cluster, apiServer(cluster))
  const until = performance.now() + READY_MS
  while (!(await isReady(cluster))) {
    if (runningPid(cluster.folder, 'apiserver') === undefined)
      throw new Error(`the API server ended: see ${cluster.folder}/log/apiserver.log`)
    if (performance.now() > until) throw new Error(`the API server is not ready: see ${cluster.folder}/log/apiserver.log`)
    await delay(200)
  }
}

/** Starts a program of the cluster in the cluster's network. */
export function start({ folder, within }: ClusterLocation, program: Program): void {
  const [first, ...args] = [...within, program.command, ...program.args]
  startProgram(folder, { name: program.name, command: first ?? '', args })
}

function isReady({ folder, address, ports }: ClusterLocation): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${readToken(folder, 'admin')}` }
    const ca = readFileSync(join(folder, 'keys/ca.crt'))
    const outgoing = request({ host: address, port: ports.api, path: '/readyz', headers, ca, timeout: 5_000 }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    outgoing.on('timeout', () => outgoing.destroy())
    outgoing.on('error', () => resolve(false))
    outgoing.end()
  })
}

function etcd({ folder, programs, ports }: ClusterLocation): Program {
  const clients = `http://127.0.0.1:${ports.etcd}`
  const peers = `http://127.0.0.1:${ports.peers}`
  return {
    name: 'etcd',
    command: join(programs, 'etcd'),
    args: [
      `--data-dir=${join(folder, 'etcd')}`,
      // Test data does not need to survive a crash of the machine.
      '--unsafe-no-fsync',
      `--listen-client-urls=${clients}`,
      `--advertise-client-urls=${clients}`,
      `--listen-peer-urls=${peers}`,
      `--initial-advertise-peer-urls=${peers}`,
      `--initial-cluster=default=${peers}`,
    ],
  }
}

function apiServer({ folder, programs, address, advertise, ports, hasNodes }: ClusterLocation): Program {
  const key = (name: string) => join(folder, 'keys', name)
  return {
    name: 'apiserver',
    command: join(programs, 'kube-apiserver'),
    args: [
      `--etcd-servers=http://127.0.0.1:${ports.etcd}`,
      ...(hasNodes ? [] : [`--bind-address=${address}`, '--endpoint-reconciler-type=none']),
      `--secure-port=${ports.api}`,
      `--advertise-address=${advertise}`,
      `--tls-cert-file=${key('server.crt')}`,
      `--tls-private-key-file=${key('server.key')}`,
      `--client-ca-file=${key('ca.crt')}`,
      `--token-auth-file=${key('tokens.csv')}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${key('accounts.key')}`,
      `--service-account-signing-key-file=${key('accounts.key')}`,
      '--service-cluster-ip-range=10.96.0.0/16',
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction,PodSecurity,ValidatingAdmissionPolicy',
      `--kubelet-client-certificate=${key('kubelet-client.crt')}`,
      `--kubelet-client-key=${key('kubelet-client.key')}`,
      '--kubelet-preferred-address-types=InternalIP',
      `--requestheader-client-ca-file=${key('ca.crt')}`,
      '--requestheader-allowed-names=front-proxy-client',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      `--proxy-client-cert-file=${key('front-proxy.crt')}`,
      `--proxy-client-key-file=${key('front-proxy.key')}`,
      '--enable-aggregator-routing=true',
    ],
  }
}

function controllers({ folder, programs, hasNodes }: ClusterLocation): Program {
  return {
    name: 'controllers',
    command: join(programs, 'kube-controller-manager'),
    args: [
      ...buildClientArguments(folder, 'controllers'),
      '--use-service-account-credentials',
      `--service-account-private-key-file=${join(folder, 'keys/accounts.key')}`,
      `--root-ca-file=${join(folder, 'keys/ca.crt')}`,
      '--allocate-node-cidrs=false',
      // Nodes without a kubelet are simulated by tests, which set their status.
      ...(hasNodes ? [] : ['--controllers=*,-node-lifecycle-controller,-taint-eviction-controller', '--secure-port=0']),
    ],
  }
}

function scheduler({ folder, programs, hasNodes }: ClusterLocation): Program {
  const args = [...buildClientArguments(folder, 'scheduler'), ...(hasNodes ? [] : ['--secure-port=0'])]
  return { name: 'scheduler', command: join(programs, 'kube-scheduler'), args }
}

/** Returns the arguments with which the controllers or the scheduler connect to the API server. */
function buildClientArguments(folder: string, user: 'controllers' | 'scheduler'): string[] {
  const file = toKubeconfigPath(folder, user)
  return [`--kubeconfig=${file}`, `--authentication-kubeconfig=${file}`, `--authorization-kubeconfig=${file}`, '--leader-elect=false']
}
