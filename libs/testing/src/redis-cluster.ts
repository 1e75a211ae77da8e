import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@vitascope/embedded-postgres'
import { callRedis, redisPath } from './redis.ts'
import { waitFor } from './wait-for.ts'

export interface TestRedisCluster {
  /** Address of each node. The first three are masters at the start, and the last is the replica of the first. */
  nodes: readonly { host: string; port: number }[]
  kill(nth: number): Promise<void>
  /** Suspends a node: it stops responding, but its connections stay open. */
  pause(nth: number): void
  /** Returns true if the replica has become a master. */
  isPromoted(): Promise<boolean>
  stop(): Promise<void>
}

const MASTERS = 3
const SLOTS = 16_384
const READY = { timeout: 30_000, describe: 'the Redis Cluster to be ready' }

/** Starts three masters, and a replica of the first one that replaces it after two seconds; requires `redisPath()`. */
export async function startRedisCluster(): Promise<TestRedisCluster> {
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-redis-cluster-'))
  const started: Awaited<ReturnType<typeof startNode>>[] = []
  const stop = async () => {
    await Promise.all(started.map(({ kill }) => kill()))
    await rm(folder, { recursive: true, force: true })
  }
  try {
    for (let nth = 0; nth <= MASTERS; nth++) started.push(await startNode(folder, nth))
    await connectNodes(started)
  } catch (error) {
    await stop()
    throw error
  }
  const [replica] = started.slice(MASTERS)
  return {
    nodes: started.map(({ port }) => ({ host: '127.0.0.1', port })),
    async kill(nth) {
      await started[nth]?.kill()
    },
    pause: (nth) => started[nth]?.pause(),
    isPromoted: async () => (await callRedis(replica?.port ?? 0, 'ROLE')).includes('\r\nmaster\r\n'),
    stop,
  }
}

async function startNode(folder: string, nth: number) {
  const program = redisPath()
  if (program === undefined) throw new Error('no Valkey or Redis server is installed')
  const [port, busPort] = [await freePort(), await freePort()]
  const settings = {
    ...{ port, bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no' },
    ...{ 'cluster-enabled': 'yes', 'cluster-port': busPort, 'cluster-config-file': `nodes-${nth}.conf`, 'cluster-node-timeout': 2_000 },
  }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = spawn(program, args, { stdio: 'ignore' })
  const kill = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }
  try {
    await waitFor(async () => (await callRedis(port, 'PING').catch(() => '')).startsWith('+PONG'), READY)
  } catch (error) {
    await kill()
    throw error
  }
  return { port, busPort, kill, pause: () => void child.kill('SIGSTOP') }
}

async function connectNodes(nodes: readonly { port: number; busPort: number }[]): Promise<void> {
  const [first, ...others] = nodes
  if (!first) throw new Error('the cluster has no nodes')
  for (const { port } of others) await callRedis(port, 'CLUSTER', 'MEET', '127.0.0.1', String(first.port), String(first.busPort))
  for (const [nth, { port }] of nodes.slice(0, MASTERS).entries()) {
    const [from, to] = [Math.ceil((SLOTS * nth) / MASTERS), Math.ceil((SLOTS * (nth + 1)) / MASTERS) - 1]
    await callRedis(port, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String(to))
  }
  const countKnown = async (port: number) => Number(/cluster_known_nodes:(\d+)/.exec(await callRedis(port, 'CLUSTER', 'INFO'))?.[1])
  await waitFor(async () => (await Promise.all(nodes.map(({ port }) => countKnown(port)))).every((count) => count === nodes.length), READY)
  const [, firstId = ''] = /\r\n(\w{40})\r\n/.exec(await callRedis(first.port, 'CLUSTER', 'MYID')) ?? []
  for (const { port } of nodes.slice(MASTERS)) {
    await callRedis(port, 'CLUSTER', 'REPLICATE', firstId)
    await waitFor(async () => (await callRedis(port, 'INFO', 'replication')).includes('master_link_status:up'), READY)
  }
  const isReady = async (port: number) => (await callRedis(port, 'CLUSTER', 'INFO')).includes('cluster_state:ok')
  await waitFor(async () => (await Promise.all(nodes.map(({ port }) => isReady(port)))).every(Boolean), READY)
}
