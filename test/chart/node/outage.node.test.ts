import { beforeAll, expect, jest, test } from '@jest/globals'
import type { V1Pod } from '@kubernetes/client-node'
import { waitFor } from '@vitascope/testing'
import { createTenant, type Tenant } from '../../../e2e/support/video-steps.ts'
import { describeChart } from '../support/chart.ts'
import { kubectl, readKubectlJson } from './support/commands.ts'
import { OUTSIDE } from './support/outside.ts'
import { NAMESPACE, prepareRelease, type Release } from './support/release.ts'

jest.setTimeout(1_200_000)
/** Duration of the outage. It is longer than failing liveness probes would be tolerated. */
const AWAY_MS = 120_000
const OF_DATABASE = ['auth', 'catalogue', 'encoding', 'collaboration', 'analytics']

let platform: Release
let tenant: Tenant

beforeAll(async () => {
  platform = await prepareRelease()
  tenant = await createTenant(platform.system)
})

async function pods(): Promise<{ name: string; component: string; isReady: boolean; restarts: number }[]> {
  const { items } = await readKubectlJson<{ items: V1Pod[] }>('pods', '--namespace', NAMESPACE)
  return items.map(({ metadata, status }) => ({
    name: metadata?.name ?? '',
    component: metadata?.labels?.['app.kubernetes.io/component'] ?? '',
    isReady: status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false,
    restarts: (status?.containerStatuses ?? []).reduce((sum, { restartCount }) => sum + restartCount, 0),
  }))
}
const restarts = async () => (await pods()).map(({ name, restarts: count }) => [name, count])
const scale = (replicas: number) => kubectl('scale', 'statefulset/postgres', '--namespace', OUTSIDE, `--replicas=${replicas}`)

describeChart('a database outage', () => {
  test('makes the services not ready, makes them ready again afterwards, and restarts no pod', async () => {
    const before = await restarts()
    const stopMs = performance.now()
    await scale(0)
    const areReady = async (ready: boolean) => {
      const ofDatabase = (await pods()).filter(({ component }) => OF_DATABASE.includes(component))
      expect(new Set(ofDatabase.map(({ component }) => component))).toEqual(new Set(OF_DATABASE))
      return ofDatabase.every(({ isReady }) => isReady === ready)
    }
    await waitFor(() => areReady(false), { timeout: 90_000, interval: 500, describe: 'the services to be not ready' })
    const off = performance.now()
    await new Promise((resolve) => setTimeout(resolve, AWAY_MS - (off - stopMs)))
    await scale(1)
    await kubectl('rollout', 'status', 'statefulset/postgres', '--namespace', OUTSIDE, '--timeout=180s')
    const restartMs = performance.now()
    await waitFor(() => areReady(true), { timeout: 60_000, interval: 250, describe: 'the services to be ready' })
    console.log(
      `not ready ${Math.round(off - stopMs)} ms after the scale-down, ready ${Math.round(performance.now() - restartMs)} ms after it was back`,
    )
    expect(await restarts()).toEqual(before)
    expect((await platform.withKey(tenant.key).get('/video')).status).toBe(200)
  })
})
