import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import type { V1Job } from '@kubernetes/client-node'
import { waitFor } from '@vitascope/testing'
import { createApi } from '../../../e2e/support/api.ts'
import { expectSameFrames } from '../../../e2e/support/same-frames.ts'
import { createTenant, upload, type VideoRecord, waitUntilSettled } from '../../../e2e/support/video-steps.ts'
import { IMAGES } from '../../cluster/images/images.ts'
import { NETWORK } from '../../cluster/node/network.ts'
import { chart, describeChart } from '../support/chart.ts'
import { apply, helm, kubectl, readKubectlJson } from './support/commands.ts'
import { ENCODE, fixedService, imageValues, NAMESPACE, restricted } from './support/release.ts'
import { prepareScene, type Scene } from './support/scene.ts'

jest.setTimeout(1_200_000)

let scene: Scene

beforeAll(async () => {
  scene = await prepareScene('minute.mp4')
})
afterAll(() => scene?.end())

describeChart('the complete platform', () => {
  let byJobs: VideoRecord

  test('fetches a video by URL, encodes it by a Job of several chunks, and delivers it', async () => {
    const jobs = async () => (await readKubectlJson<{ items: V1Job[] }>('jobs', '--namespace', ENCODE)).items
    const before = new Set((await jobs()).map(({ metadata }) => metadata?.uid))
    const newJobs = new Map<string, V1Job>()
    const { api, tenant, sources } = scene
    const { id } = await upload(api, tenant.organisationId, `${sources.url}/minute.mp4`)
    const watching = waitFor(
      async () => {
        for (const job of await jobs()) if (!before.has(job.metadata?.uid)) newJobs.set(job.metadata?.uid ?? '', job)
        return newJobs.size > 0
      },
      { timeout: 300_000, interval: 500, describe: 'a Job' },
    )
    byJobs = await waitUntilSettled(api, id, 600_000)
    await watching
    expect(byJobs.status).toMatchObject({ status: 'ok', code: 2000 })
    const jobShapes = [...newJobs.values()].map(({ spec, metadata }) => {
      const chunks = metadata?.annotations?.['vitascope/chunks']?.split(',').length ?? 0
      return [spec?.completionMode, spec?.completions, chunks >= 3]
    })
    expect(jobShapes).toEqual([['Indexed', 2, true]])
    const master = await (await fetch(byJobs.uri.hls)).text()
    const [variant = ''] = master.split('\n').filter((line) => /^[^#].*\.m3u8$/.test(line))
    const playlist = new URL(variant, byJobs.uri.hls)
    const [segment = ''] = (await (await fetch(playlist)).text()).split('\n').filter((line) => /^[^#]/.test(line))
    const bytes = await fetch(new URL(segment, playlist))
    expect([bytes.status, (await bytes.arrayBuffer()).byteLength > 1_000]).toEqual([200, true])
  })

  test('Jobs and workers encode the same source to the same frames', async () => {
    const namespace = 'evaluation'
    const address = '10.96.100.81'
    await apply([restricted(namespace), fixedService(namespace, 'evaluation', address)])
    const valuesFile = join(scene.folder, 'evaluation.json')
    const values = {
      ...imageValues,
      publicUrl: `http://${address}`,
      sourceAllow: [`${NETWORK.machine}/32`],
      evaluation: { postgres: { image: IMAGES.postgres } },
    }
    await writeFile(valuesFile, JSON.stringify(values))
    const files = ['--values', join(chart, 'values-evaluation.yaml'), '--values', valuesFile]
    await helm('install', 'evaluation', chart, '--namespace', namespace, ...files, '--wait', '--timeout', '10m')
    const encoded = await kubectl(
      'get',
      'secret',
      'evaluation-vitascope-keys',
      '--namespace',
      namespace,
      '-o',
      'jsonpath={.data.system-key}',
    )
    const system = createApi(`http://${address}/v2`, Buffer.from(encoded, 'base64').toString())
    const otherTenant = await createTenant(system)
    const api = createApi(`http://${address}/v2`, otherTenant.key)
    const { id } = await upload(api, otherTenant.organisationId, `${scene.sources.url}/minute.mp4`)
    const byWorkers = await waitUntilSettled(api, id, 600_000)
    expect(byWorkers.status).toMatchObject({ status: 'ok', code: 2000 })
    await expectSameFrames(byJobs, byWorkers)
    await helm('uninstall', 'evaluation', '--namespace', namespace, '--wait')
    await kubectl('delete', 'namespace', namespace, '--wait')
  })

  test('every gateway rejects a revoked key', async () => {
    const otherTenant = await createTenant(scene.platform.system)
    const pods = await readKubectlJson<{ items: { status: { podIP: string } }[] }>(
      'pods',
      '--namespace',
      NAMESPACE,
      '-l',
      'app.kubernetes.io/component=gateway',
    )
    const gateways = pods.items.map(({ status }) => createApi(`http://${status.podIP}:8080/v2`, otherTenant.key))
    expect(gateways.length).toBeGreaterThanOrEqual(2)
    for (const gateway of gateways) expect((await gateway.get('/video')).status).toBe(200)
    expect((await scene.platform.system.delete(`/apikey/${otherTenant.key}`)).status).toBe(200)
    for (const gateway of gateways)
      await waitFor(async () => (await gateway.get('/video')).status === 401, { timeout: 10_000, interval: 100, describe: 'the rejection' })
  })
})
