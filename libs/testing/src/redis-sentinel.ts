import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@vitascope/embedded-postgres'
import { callRedis, redisPath, startRedis, type TestRedis } from './redis.ts'
import { waitFor } from './wait-for.ts'

export interface TestSentinel {
  /** Address of the Sentinel. */
  host: string
  port: number
  /** Name of the group. */
  name: string
  /** Two servers. The first one is the master at the start. */
  servers: readonly [TestRedis, TestRedis]
  /** Returns the port of the current master. */
  readMasterPort(): Promise<number>
  stop(): Promise<void>
}

/**
 * Starts a master, a replica, and one Sentinel that replaces the master when it has not responded for a second; requires
 * `redisPath()`.
 */
export async function startRedisWithSentinel(): Promise<TestSentinel> {
  const program = redisPath()
  if (program === undefined) throw new Error('no Valkey or Redis server is installed')
  const name = 'videos'
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-sentinel-'))
  const servers = [await startRedis(), await startRedis()] as const
  const [masterPort, replicaPort] = servers.map(({ url }) => Number(new URL(url).port)) as [number, number]
  await callRedis(replicaPort, 'REPLICAOF', '127.0.0.1', String(masterPort))
  const port = await freePort()
  const config = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor ${name} 127.0.0.1 ${masterPort} 1`,
    `sentinel down-after-milliseconds ${name} 1000`,
    `sentinel failover-timeout ${name} 3000`,
  ]
  await writeFile(join(folder, 'sentinel.conf'), `${config.join('\n')}\n`)
  const child = spawn(program, [join(folder, 'sentinel.conf'), '--sentinel'], { stdio: 'ignore' })
  const readGroup = async () => callRedis(port, 'SENTINEL', 'MASTER', name).catch(() => '')
  // A failover requires a replica that the Sentinel knows and that is connected to the master.
  const isReady = async () => {
    const [replicas, state] = [await readGroup(), await callRedis(replicaPort, 'INFO', 'replication')]
    return /\bnum-slaves\r\n\$1\r\n1\r\n/.test(replicas) && state.includes('master_link_status:up')
  }
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    }
    for (const server of servers) await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    await waitFor(isReady, { timeout: 30_000, describe: 'the Sentinel to know the replica' })
  } catch (error) {
    await stop()
    throw error
  }
  return {
    host: '127.0.0.1',
    port,
    name,
    servers,
    async readMasterPort() {
      const address = await callRedis(port, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name)
      return Number(/\r\n(\d+)\r\n$/.exec(address)?.[1])
    },
    stop,
  }
}
