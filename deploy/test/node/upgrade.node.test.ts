import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import type { V1Pod } from '@kubernetes/client-node'
import { type SourceServer, startSourceServer } from '../../../apps/standalone/test/support/source-server.ts'
import { makeSource } from '../../../apps/standalone/test/support/sources.ts'
import { aTenant, settled, type Tenant, upload, type VideoRecord } from '../../../apps/standalone/test/support/video-steps.ts'
import { NETWORK } from '../../cluster/node/network.ts'
import { components, describeChart } from '../support/chart.ts'
import { getJson, kubectl } from './support/commands.ts'
import { HOUSE, type House, theHouse } from './support/house.ts'
import { startLoad } from './support/load.ts'

jest.setTimeout(1_800_000)

let folder: string
let sources: SourceServer
let house: House
let tenant: Tenant
let video: VideoRecord

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-node-'))
  sources = await startSourceServer(folder, NETWORK.machine)
  await makeSource(folder, 'small.mp4')
  house = await theHouse()
  tenant = await aTenant(house.system)
  const api = house.withKey(tenant.key)
  const { id } = await upload(api, tenant.organisationId, `${sources.url}/small.mp4`)
  video = await settled(api, id, 300_000)
})
afterAll(async () => {
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
})

const podsOf = async () => {
  const { items } = await getJson<{ items: V1Pod[] }>('pods', '--namespace', HOUSE)
  return new Set(items.map(({ metadata }) => metadata?.uid ?? ''))
}

/** One component after the other, as an operator does whose node has little to spare. */
async function replaceEveryPod(): Promise<void> {
  for (const name of components.filter((component) => component !== 'web')) {
    const workload = `${name === 'analytics' ? 'statefulset' : 'deployment'}/house-vitascope-${name}`
    await kubectl('rollout', 'restart', workload, '--namespace', HOUSE)
    await kubectl('rollout', 'status', workload, '--namespace', HOUSE, '--timeout=300s')
  }
}

describeChart('an upgrade', () => {
  const underLoad = async (name: string, replace: () => Promise<void>) => {
    const urls = [`${house.url}/v2/video/${video.video_id}`, `${house.url}/v2/video`, video.uri.hls, video.uri.thumbnail]
    const before = await podsOf()
    const load = startLoad(urls, { perSecond: 50, key: tenant.key })
    await replace()
    const report = await load.end()
    console.log(`${name}: ${report.answered} answered, ${report.lost.length} lost, the slowest after ${Math.round(report.slowestMs)} ms`)
    expect(report.answered).toBeGreaterThan(500)
    expect([...(await podsOf())].filter((pod) => before.has(pod))).toEqual([])
    return report.lost
  }

  test.each([1, 2, 3])('that replaces one component after the other loses none of 50 calls a second, the %sth time', async (nth) => {
    expect(await underLoad(`turn ${nth}`, replaceEveryPod)).toEqual([])
  })

  test('that replaces all of them at once breaks no connection: what comes too late on a node of two processors is told so', async () => {
    const lost = await underLoad('helm upgrade', () => house.upgrade({ logLevel: 'warn' }))
    expect(lost.filter((line) => !/ 503 /.test(line))).toEqual([])
  })
})
