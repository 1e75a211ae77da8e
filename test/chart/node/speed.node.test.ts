import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import type { V1Pod } from '@kubernetes/client-node'
import { findFfmpeg } from '@vitascope/media'
import { waitFor } from '@vitascope/testing'
import { makeSource } from '../../../bench/encode/make-source.ts'
import { median } from '../../../bench/ratio.ts'
import { expectSameFrames } from '../../../e2e/support/same-frames.ts'
import { hashFrames } from '../../../e2e/support/sources.ts'
import { upload, type VideoRecord } from '../../../e2e/support/video-steps.ts'
import { readCpuSeconds } from '../../cluster/node/pod-groups.ts'
import { describeChart } from '../support/chart.ts'
import { type BareFfmpeg, bareFfmpeg, type Cost, parseHashes } from './support/bare-ffmpeg.ts'
import { apply, kubectl, readKubectlJson } from './support/commands.ts'
import { ENCODE, NAMESPACE } from './support/release.ts'
import { prepareScene, type Scene } from './support/scene.ts'

jest.setTimeout(3_600_000)
const MINUTES = 2
/** One round is a functional check. Three rounds and their medians are a measurement. */
const ROUNDS = Number(process.env['VITASCOPE_SPEED_ROUNDS'] ?? 1)
/** Number of frames up to the second key frame. Our encoder starts again after the first chunk. */
const FIRST_FRAMES = 60
const FILM = 'mandelbrot=s=1280x720:r=30:end_scale=0.02:end_pts=3600,noise=alls=4:allf=t'
/**
 * Each pod of a Job is limited to one processor and has a smaller request, because the node has two
 * processors for everything.
 */
const limits = {
  apiVersion: 'v1',
  kind: 'LimitRange',
  metadata: { name: 'one-processor', namespace: ENCODE },
  spec: { limits: [{ type: 'Container', default: { cpu: '1' } }] },
}

let scene: Scene
let bare: BareFfmpeg

beforeAll(async () => {
  scene = await prepareScene()
  await makeSource(await findFfmpeg(), { content: FILM, seconds: 60 * MINUTES }, join(scene.folder, 'film.mp4'))
  await apply([limits])
  bare = await bareFfmpeg(`${scene.sources.url}/film.mp4`, MINUTES)
})
afterAll(async () => {
  await bare?.end()
  await kubectl('delete', 'limitrange', limits.metadata.name, '--namespace', ENCODE)
  await scene?.platform.upgrade({})
  await scene?.end()
})

/**
 * Measures the time from the upload until the video is complete, and the CPU time of the pods of
 * the Job and of the worker.
 */
async function measurePlatform(): Promise<Cost & { video: VideoRecord }> {
  const { items } = await readKubectlJson<{ items: V1Pod[] }>('pods', '--all-namespaces')
  const others = items.filter(({ metadata }) => metadata?.labels?.['app.kubernetes.io/component'] !== 'worker')
  const used = ({ metadata }: V1Pod) => readCpuSeconds(metadata?.uid ?? '')
  const usedBefore = new Map(others.map((pod) => [pod, used(pod)]))
  // Deleted pods have no metrics any more. Their earlier usage is not part of this video.
  const sumOtherCpuSeconds = () => others.reduce((sum, pod) => sum + Math.max(0, used(pod) - (usedBefore.get(pod) ?? 0)), 0)
  const before = readCpuSeconds()
  const started = performance.now()
  const { id } = await upload(scene.api, scene.tenant.organisationId, `${scene.sources.url}/film.mp4`)
  const getVideo = async () => (await scene.api.get<VideoRecord>(`/video/${id}`)).body
  // A higher poll rate would distort the measurement.
  const isSettled = async () => (await getVideo()).status.code >= 2000
  await waitFor(isSettled, { timeout: 900_000, interval: 500, describe: `video ${id} to settle` })
  const wallSeconds = (performance.now() - started) / 1_000
  const video = await getVideo()
  expect(video.status).toMatchObject({ status: 'ok', code: 2000 })
  return { wallSeconds, cpuSeconds: readCpuSeconds() - before - sumOtherCpuSeconds(), video }
}

async function onPods(parallelism: number): Promise<Awaited<ReturnType<typeof measurePlatform>>[]> {
  await scene.platform.upgrade({ encoding: { executor: { kubernetes: { parallelism } } } })
  const haveOldPodsEnded = async () => {
    const { items } = await readKubectlJson<{ items: V1Pod[] }>('pods', '--namespace', NAMESPACE)
    return items.every(({ metadata }) => metadata?.deletionTimestamp === undefined)
  }
  await waitFor(haveOldPodsEnded, { timeout: 60_000, interval: 1_000, describe: 'replaced pods to end' })
  const runs: Awaited<ReturnType<typeof measurePlatform>>[] = []
  for (let round = 0; round < ROUNDS; round++) runs.push(await measurePlatform())
  return runs
}

const show = ({ cpuSeconds, wallSeconds }: Cost) => `CPU ${cpuSeconds.toFixed(1)} s, wall ${wallSeconds.toFixed(1)} s`
const computeMedianCosts = (costs: readonly Cost[]): Cost => ({
  cpuSeconds: median(costs.map((cost) => cost.cpuSeconds)),
  wallSeconds: median(costs.map((cost) => cost.wallSeconds)),
})

describeChart('chunked encoding', () => {
  test('is faster on two pods than on one, with the same frames as plain ffmpeg', async () => {
    const bares: Cost[] = []
    for (const name of ROUNDS > 1 ? ['cascade', 'split', 'filtered-images'] : ['cascade']) {
      bares.push(await bare.run(name))
      console.log(`bare ${name}: ${show(bares.at(-1) as Cost)}`)
    }
    const best = bares.reduce((a, b) => (b.cpuSeconds < a.cpuSeconds ? b : a))
    const [one, two] = [await onPods(1), await onPods(2)]
    for (const [name, runs] of Object.entries({ one, two })) console.log(`${name}: ${runs.map(show).join('; ')}`)
    const [ofOne, ofTwo] = [computeMedianCosts(one), computeMedianCosts(two)]
    console.log(
      `medians: one pod ${show(ofOne)}; two pods ${show(ofTwo)}; best bare ${show(best)}; wall ${(ofTwo.wallSeconds / ofOne.wallSeconds).toFixed(3)}, CPU of two ${(ofTwo.cpuSeconds / best.cpuSeconds).toFixed(3)} of one ffmpeg`,
    )
    const [first, ...others] = [...one, ...two].map(({ video }) => video)
    for (const other of others) await expectSameFrames(first as VideoRecord, other)
    const file = join(scene.folder, 'largest.mp4')
    await writeFile(file, await (await fetch(first?.uri.http['h264_1200'] ?? '')).bytes())
    const frames = parseHashes(await hashFrames(file)).split(',')
    expect(frames).toHaveLength(60 * MINUTES * 30)
    expect(frames.slice(0, FIRST_FRAMES).join()).toBe(await bare.getFrames('h264_1200', FIRST_FRAMES))
    // Other load of the machine affects the figures. The CPU times are printed above and not checked.
    // This comparison holds on any machine.
    expect(ofTwo.wallSeconds).toBeLessThan(ofOne.wallSeconds)
  })
})
