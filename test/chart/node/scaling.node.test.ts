import { beforeAll, expect, jest, test } from '@jest/globals'
import type { V2HorizontalPodAutoscaler } from '@kubernetes/client-node'
import { waitFor } from '@vitascope/testing'
import { createTenant, type Tenant } from '../../../e2e/support/video-steps.ts'
import { describeChart } from '../support/chart.ts'
import { kubectl, readKubectlJson } from './support/commands.ts'
import { startLoad } from './support/load.ts'
import { NAMESPACE, prepareRelease, type Release } from './support/release.ts'

jest.setTimeout(1_200_000)

let platform: Release
let tenant: Tenant

beforeAll(async () => {
  platform = await prepareRelease()
  tenant = await createTenant(platform.system)
})

describeChart('the autoscaler', () => {
  test('adds a gateway pod when the CPU usage exceeds the target', async () => {
    await platform.upgrade({ gateway: { autoscaling: { enabled: true, minReplicas: 2, maxReplicas: 3, cpuPercent: 1 } } })
    const readAutoscaler = () =>
      readKubectlJson<V2HorizontalPodAutoscaler>('horizontalpodautoscaler', 'videos-vitascope-gateway', '--namespace', NAMESPACE)
    await waitFor(async () => (await readAutoscaler()).status?.currentMetrics?.length, {
      timeout: 120_000,
      interval: 1_000,
      describe: 'the autoscaler to have metrics of the pods',
    })
    const load = startLoad([`${platform.url}/v2/video`], { perSecond: 60, key: tenant.key })
    try {
      await waitFor(async () => (await readAutoscaler()).status?.currentReplicas === 3, {
        timeout: 180_000,
        interval: 1_000,
        describe: 'a third gateway pod',
      })
    } finally {
      await load.end()
    }
    const usage = await kubectl('top', 'pods', '--namespace', NAMESPACE, '--no-headers')
    // The release has 13 pods in addition to the third gateway, whose metrics may still be missing.
    expect(usage.trim().split('\n').length).toBeGreaterThanOrEqual(13)
    console.log(usage)
    await platform.upgrade({})
  })
})
