import { join } from 'node:path'
import { createLogPrinter } from '@vitascope/platform'
import { freePort, waitFor } from '@vitascope/testing'
import { type Child, superviseChild } from '../../apps/standalone/src/child.ts'
import { type Api, createApi } from './api.ts'
import { readSettings } from './process-settings.ts'
import { startRoundRobin } from './round-robin.ts'
import { SYSTEM_KEY, startTestPlatform, type TestPlatform } from './test-platform.ts'

const APPS = join(import.meta.dirname, '../../apps')
const GRPC_SERVICES = ['auth', 'catalogue', 'encoding', 'collaboration', 'analytics'] as const
const REPLICATED = [...GRPC_SERVICES, 'worker', 'delivery', 'gateway'] as const

/**
 * A platform with two processes of every service on one database and one storage. Requests to its
 * URL alternate between both gateways.
 */
export interface ReplicatedPlatform extends TestPlatform {
  /**
   * Kills the second process of each service permanently, like the loss of a node. Afterwards,
   * requests use only the first gateway.
   */
  killSecondNode(): Promise<void>
  /** Returns the number of calls that each of the two processes has handled, by service. The worker handles no calls. */
  callCounts(): Promise<Record<string, number[]>>
}

/**
 * Starts a platform with two processes of every service. Every client of a service knows both addresses
 * and balances round robin, as in a cluster. The second processes have the settings of the first ones,
 * except for ports and private folders.
 */
export async function startReplicas(env: Record<string, string> = {}): Promise<ReplicatedPlatform> {
  const secondAddresses: Record<string, string> = {}
  const addresses: Record<string, string> = {}
  for (const name of GRPC_SERVICES) {
    const first = `127.0.0.1:${await freePort()}`
    secondAddresses[name] = `127.0.0.1:${await freePort()}`
    addresses[`VITASCOPE_${name.toUpperCase()}_LISTEN`] = first
    addresses[`VITASCOPE_${name.toUpperCase()}_ADDRESS`] = `ipv4:${first},${secondAddresses[name]}`
  }
  secondAddresses['delivery'] = `127.0.0.1:${await freePort()}`
  const uploads = `127.0.0.1:${await freePort()}`
  const ports = [await freePort(), await freePort()] as const
  const front = await startRoundRobin(ports)
  const gatewayEnv = { VITASCOPE_PORT: String(ports[0]), VITASCOPE_PUBLIC_URL: front.url, ...addresses }
  const platform = await startTestPlatform({ ...gatewayEnv, ...env }).catch(async (error: unknown) => {
    await front.close()
    throw error
  })
  const printed: string[] = []
  const print = createLogPrinter({ write: (text: string) => void printed.push(text) })
  const children: Child[] = []
  const metricsUrls: Record<string, string[]> = {}

  const start = async (name: (typeof REPLICATED)[number]) => {
    const received = Object.fromEntries(
      [...(await readSettings(platform, name))].filter(([setting]) => !setting.startsWith('NODE_CHANNEL')),
    )
    const metrics = `VITASCOPE_${name.toUpperCase()}_METRICS_LISTEN`
    const listen = secondAddresses[name]
    const overrides: Record<string, string> = {
      [metrics]: `127.0.0.1:${await freePort()}`,
      ...(listen !== undefined && { [`VITASCOPE_${name.toUpperCase()}_LISTEN`]: listen }),
      ...(name === 'encoding' && { VITASCOPE_ENCODING_UPLOAD_LISTEN: uploads }),
      ...(name === 'worker' && { VITASCOPE_WORKER_NAME: 'worker-2' }),
      ...(name === 'analytics' && { VITASCOPE_ANALYTICS_SPOOL_DIR: join(platform.dataDir, 'events-2') }),
      ...(received['VITASCOPE_SCRATCH_DIR'] !== undefined && { VITASCOPE_SCRATCH_DIR: join(platform.dataDir, 'scratch-2') }),
      ...(name === 'gateway' && {
        VITASCOPE_PORT: String(ports[1]),
        VITASCOPE_DELIVERY_URL: `http://${secondAddresses['delivery']}`,
        VITASCOPE_ENCODING_UPLOAD_URL: `http://${uploads}`,
      }),
    }
    const main = name === 'worker' ? 'encoding/src/worker/main.ts' : `${name}/src/main.ts`
    metricsUrls[name] = [received[metrics], overrides[metrics]].map((address) => `http://${address}`)
    children.push(superviseChild({ name: `${name}-2`, main: join(APPS, main), env: { ...received, ...overrides } }, print))
  }
  const remove = async () => {
    await Promise.all(children.map((child) => child.stop()))
    await platform.remove()
    await front.close()
  }
  const isReady = async (name: string) => {
    const responses = await Promise.all((metricsUrls[name] ?? []).map((url) => fetch(`${url}/readyz`).then(({ ok }) => ok)))
    return responses.every(Boolean)
  }
  const withKey = (key?: string): Api => createApi(`${front.url}/v2`, key)
  try {
    for (const name of REPLICATED) await start(name)
    for (const name of REPLICATED)
      await waitFor(() => isReady(name), { timeout: 120_000, describe: `both processes of ${name} to be ready` })
  } catch (error) {
    await remove()
    throw new Error(`the second processes did not start\n${printed.slice(-40).join('')}`, { cause: error })
  }
  return {
    ...platform,
    url: front.url,
    withKey,
    system: withKey(SYSTEM_KEY),
    guest: withKey(),
    pid: (name) => children.find((child) => child.name === name)?.pid() ?? platform.pid(name),
    log: () => platform.log() + printed.join(''),
    callCounts: async () => {
      const counts = Object.entries(metricsUrls)
        .filter(([name]) => name !== 'worker')
        .map(async ([name, both]) => [name, await Promise.all(both.map(countCalls))] as const)
      return Object.fromEntries(await Promise.all(counts))
    },
    async killSecondNode() {
      for (const child of children) {
        const pid = child.pid()
        if (pid !== undefined) process.kill(pid, 'SIGKILL')
      }
      // None of these processes is restarted.
      await Promise.all(children.map((child) => child.stop()))
      front.leaveOut(ports[1])
    },
    remove,
  }
}

/** Returns the number of gRPC calls or HTTP requests that a process has handled. */
async function countCalls(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  const counts = [...text.matchAll(/^vitascope_(?:grpc_call|http_request|delivery_request)_duration_seconds_count(?:\{[^}]*\})? (\d+)/gm)]
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}
