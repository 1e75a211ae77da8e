import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import type { V1CronJob, V1Pod } from '@kubernetes/client-node'
import { upload, type VideoRecord, waitUntilSettled } from '../../../e2e/support/video-steps.ts'
import { describeChart } from '../support/chart.ts'
import { apply, helm, kubectl, readKubectlJson } from './support/commands.ts'
import { clearOutsideServices } from './support/outside.ts'
import { NAMESPACE } from './support/release.ts'
import { prepareScene, type Scene } from './support/scene.ts'

jest.setTimeout(1_200_000)
const CLAIM = 'videos-backup'
/** Claim of docs/operate/backup-and-restore.md, with a smaller size. */
const claim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: CLAIM, namespace: NAMESPACE },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '5Gi' } } },
}

let scene: Scene
let video: VideoRecord

beforeAll(async () => {
  scene = await prepareScene('small.mp4')
  const { id } = await upload(scene.api, scene.tenant.organisationId, `${scene.sources.url}/small.mp4`)
  video = await waitUntilSettled(scene.api, id, 300_000)
})
afterAll(async () => {
  await scene?.platform.upgrade({})
  await scene?.end()
})

/** Returns the bytes of the first segment of the first rendition. */
async function firstSegment(): Promise<string> {
  const fetchLines = async (address: string | URL) => (await (await fetch(address)).text()).split('\n').filter((line) => /^[^#]/.test(line))
  const [variant = ''] = await fetchLines(video.uri.hls)
  const playlist = new URL(variant, video.uri.hls)
  const [segment = ''] = await fetchLines(playlist)
  const response = await fetch(new URL(segment, playlist))
  expect(response.status).toBe(200)
  return Buffer.from(await response.arrayBuffer()).toString('base64')
}

describeChart('backup and restore', () => {
  test('the CronJob backs up a running platform, and an install into an empty database and bucket restores everything', async () => {
    const { platform, api } = scene
    const segment = await firstSegment()
    await apply([claim])
    await platform.upgrade({ backup: { enabled: true, existingClaim: CLAIM } })
    await kubectl('create', 'job', 'by-hand', '--namespace', NAMESPACE, '--from=cronjob/videos-vitascope-backup')
    await kubectl('wait', 'job/by-hand', '--namespace', NAMESPACE, '--for=condition=complete', '--timeout=300s')
    expect((await readKubectlJson<V1CronJob>('cronjob', 'videos-vitascope-backup', '--namespace', NAMESPACE)).spec?.suspend).toBe(false)
    const afterwards = await upload(api, scene.tenant.organisationId, `${scene.sources.url}/small.mp4`)

    await helm('uninstall', 'videos', '--namespace', NAMESPACE, '--wait')
    await clearOutsideServices()
    await platform.upgrade({ backup: { restore: true, existingClaim: CLAIM } })

    const { status, body } = await api.get<VideoRecord>(`/video/${video.video_id}`)
    expect([status, body]).toEqual([200, video])
    expect((await firstSegment()) === segment).toBe(true)
    expect((await api.get(`/video/${afterwards.id}`)).status).toBe(404)
    const { id } = await upload(api, scene.tenant.organisationId, `${scene.sources.url}/small.mp4`)
    expect((await waitUntilSettled(api, id, 300_000)).status).toMatchObject({ status: 'ok', code: 2000 })
    // The restore pod is deleted, and an upgrade does not restore again.
    await platform.upgrade({ backup: { restore: true, existingClaim: CLAIM }, logLevel: 'warn' })
    expect((await api.get(`/video/${id}`)).status).toBe(200)
    const pods = await readKubectlJson<{ items: V1Pod[] }>('pods', '--namespace', NAMESPACE, '-l', 'app.kubernetes.io/component=restore')
    expect(pods.items).toEqual([])
  })
})
