import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import type { V1Pod } from '@kubernetes/client-node'
import { waitFor } from '@vitascope/testing'
import { parse } from 'yaml'
import { upload, type VideoRecord, waitUntilSettled } from '../../../e2e/support/video-steps.ts'
import { provideCommitImages } from '../../cluster/images/images.ts'
import { importImages } from '../../cluster/node/containerd.ts'
import { chart, components, describeChart, PREVIOUS_COMMIT, previousChart } from '../support/chart.ts'
import { helm, kubectl, readKubectlJson } from './support/commands.ts'
import { type LoadReport, percentile, startLoad } from './support/load.ts'
import { watchEnds } from './support/pod-ends.ts'
import { buildImageValues, NAMESPACE } from './support/release.ts'
import { prepareScene, type Scene } from './support/scene.ts'

jest.setTimeout(1_800_000)
/** `preStopSeconds` of the chart: a pod still answers for this time before it receives SIGTERM. */
const PRE_STOP_SECONDS = 5
const MAX_END_SECONDS = 20

let scene: Scene
let video: VideoRecord

beforeAll(async () => {
  scene = await prepareScene('small.mp4')
  const { id } = await upload(scene.api, scene.tenant.organisationId, `${scene.sources.url}/small.mp4`)
  video = await waitUntilSettled(scene.api, id, 300_000)
})
afterAll(() => scene?.end())

const CHART = `vitascope-${(parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8')) as { version: string }).version}`
const uploadVideo = async () => {
  const { id } = await upload(scene.api, scene.tenant.organisationId, `${scene.sources.url}/small.mp4`)
  return waitUntilSettled(scene.api, id, 300_000)
}
const listPodIds = async () => {
  const { items } = await readKubectlJson<{ items: V1Pod[] }>('pods', '--namespace', NAMESPACE)
  return new Set(items.map(({ metadata }) => metadata?.uid ?? ''))
}

/** Replaces the pods of one component after the other, as on a node with few free resources. */
async function replaceEveryPod(): Promise<void> {
  for (const name of components.filter((component) => component !== 'web')) {
    const workload = `${name === 'analytics' ? 'statefulset' : 'deployment'}/videos-vitascope-${name}`
    await kubectl('rollout', 'restart', workload, '--namespace', NAMESPACE)
    await kubectl('rollout', 'status', workload, '--namespace', NAMESPACE, '--timeout=300s')
  }
}

function load(perSecond: number) {
  const { platform, tenant } = scene
  const urls = [`${platform.url}/v2/video/${video.video_id}`, `${platform.url}/v2/video`, video.uri.hls, video.uri.thumbnail]
  return startLoad(urls, { perSecond, key: tenant.key })
}

async function replaceUnderLoad(name: string, perSecond: number, replace: () => Promise<void>): Promise<LoadReport> {
  const before = await listPodIds()
  const running = load(perSecond)
  try {
    await replace()
    // The last old pods may still be terminating.
    const areReplaced = async () => [...(await listPodIds())].every((pod) => !before.has(pod))
    await waitFor(areReplaced, { timeout: 60_000, interval: 1_000, describe: 'every pod to be replaced' })
  } finally {
    await running.end()
  }
  const report = await running.end()
  const [p99, slowest] = [percentile(report, 0.99), percentile(report, 1)]
  console.log(`${name}: ${report.responses} responses, ${report.lost.length} lost, 99 % within ${p99} ms, the slowest after ${slowest} ms`)
  expect(report.responses).toBeGreaterThan(500)
  return report
}

describeChart('an upgrade', () => {
  test('that replaces one component after the other, five times, loses none of 100 calls per second, and every pod ends in time', async () => {
    const quiet = load(100)
    await new Promise((resolve) => setTimeout(resolve, 15_000))
    console.log(`before: 99 % within ${percentile(await quiet.end(), 0.99)} ms`)
    const ends = watchEnds(NAMESPACE)
    const lost: string[] = []
    for (let turn = 1; turn <= 5; turn++) lost.push(...(await replaceUnderLoad(`100 a second, turn ${turn}`, 100, replaceEveryPod)).lost)
    const ended = ends.stop()
    const slowest = Math.max(...ended.map(({ seconds }) => seconds)) - PRE_STOP_SECONDS
    console.log(`${ended.length} pods ended, the slowest ${slowest} s after its preStop delay`)
    expect(lost).toEqual([])
    expect(ended.length).toBeGreaterThanOrEqual(5 * components.filter((component) => component !== 'web').length)
    expect(ended.filter(({ exitCode }) => exitCode !== 0)).toEqual([])
    // A pod answers during the preStop delay. A shorter time would be a defect of this test.
    expect(slowest).toBeGreaterThanOrEqual(0)
    expect(slowest).toBeLessThanOrEqual(MAX_END_SECONDS)
  })

  // The log level differs each time, because unchanged pods are not replaced.
  test.each(['warn', 'error', 'info'])(
    'that replaces all components at once, with the log level %s, loses none of 50 calls per second',
    async (logLevel) => {
      expect((await replaceUnderLoad(`helm upgrade, ${logLevel}`, 50, () => scene.platform.upgrade({ logLevel }))).lost).toEqual([])
    },
  )

  test('followed by a rollback and a second upgrade loses no call and requires no manual step', async () => {
    const { platform } = scene
    const former = await provideCommitImages(PREVIOUS_COMMIT)
    await importImages(Object.values(former))
    const images = buildImageValues({ server: former.server.name, encoding: former.encoding.name })
    const cases: [string, string, () => Promise<unknown>][] = [
      ['to the version before', 'vitascope-0.1.0', () => platform.upgradeTo(previousChart, images)],
      ['to this one', CHART, () => platform.upgradeTo(chart)],
      ['rolled back', 'vitascope-0.1.0', () => helm('rollback', 'videos', '--namespace', NAMESPACE, '--wait', '--timeout', '10m')],
      ['to this one again', CHART, () => platform.upgradeTo(chart)],
    ]
    for (const [name, label, replacePods] of cases) {
      const running = load(50)
      try {
        await replacePods()
      } finally {
        await running.end()
      }
      const report = await running.end()
      console.log(`${name}: ${report.responses} responses, ${report.lost.length} lost, 99 % within ${percentile(report, 0.99)} ms`)
      expect(report.responses).toBeGreaterThan(100)
      expect(report.lost).toEqual([])
      const { items } = await readKubectlJson<{ items: V1Pod[] }>('deployments', '--namespace', NAMESPACE)
      expect([...new Set(items.map(({ metadata }) => metadata?.labels?.['helm.sh/chart']))]).toEqual([label])
      // Each build can read the data of the other one, and both can encode.
      expect((await uploadVideo()).status).toMatchObject({ status: 'ok', code: 2000 })
    }
  })
})
