import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import type { V1Pod } from '@kubernetes/client-node'
import { waitFor } from '@vitascope/testing'
import { readUploadedFiles, uploadMethods } from '../../../e2e/support/upload-methods.ts'
import type { VideoRecord } from '../../../e2e/support/video-steps.ts'
import { describeChart } from '../support/chart.ts'
import { kubectl, readKubectlJson } from './support/commands.ts'
import { OUTSIDE } from './support/outside.ts'
import { ENCODE, NAMESPACE } from './support/release.ts'
import { prepareScene, type Scene } from './support/scene.ts'

jest.setTimeout(1_800_000)

let scene: Scene

beforeAll(async () => {
  scene = await prepareScene('small.mp4', 'minute.mp4')
})
afterAll(() => scene?.end())

/** Kills a random running pod without grace period, like a crashed node. Returns false if there is none. */
async function killOne(namespace: string, selector: string): Promise<boolean> {
  const { items } = await readKubectlJson<{ items: V1Pod[] }>(
    'pods',
    '--namespace',
    namespace,
    '--selector',
    selector,
    '--field-selector=status.phase=Running',
  )
  const alive = items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
  const one = alive[Math.floor(Math.random() * alive.length)]?.metadata?.name
  if (one === undefined) return false
  await kubectl('delete', 'pod', one, '--namespace', namespace, '--grace-period=0', '--force')
  return true
}

type Victims = readonly [namespace: string, selector: string]

/** Pods of Jobs. They run only while there are encode tasks, so they are selected more often than the others. */
const encoders: Victims = [ENCODE, 'app.kubernetes.io/component=encode']
const servers: readonly Victims[] = [
  ...['gateway', 'auth', 'catalogue', 'encoding', 'worker', 'delivery', 'collaboration', 'analytics'].map(
    (name): Victims => [NAMESPACE, `app.kubernetes.io/component=${name}`],
  ),
  [OUTSIDE, 'app=postgres'],
  [OUTSIDE, 'app=redis'],
  [OUTSIDE, 'app=objects'],
]
const victims = servers.flatMap((one, nth) => (nth % 3 === 0 ? [encoders, one] : [one]))
const kinds = new Set(victims.map(([, selector]) => selector))
/** After this number of uploads, they continue until at least one pod of each kind has been killed. */
const MIN_UPLOADS = 8
const MAX_UPLOADS = 40

/** Upload by URL and in parts. */
const methods = [uploadMethods[0], uploadMethods[3]]

describeChart('killed pods', () => {
  test('no acknowledged upload is lost while one pod of each kind is killed in turn', async () => {
    const { api, platform, tenant, folder, sources } = scene
    const files = await readUploadedFiles(['small.mp4', 'minute.mp4'], folder, sources)
    const uploader = { tenant, gateways: [platform.url] }
    const videos: string[] = []
    const killed: string[] = []
    const listUnkilled = () => [...kinds].filter((kind) => !killed.includes(kind))
    let isOver = false
    const killing = (async () => {
      for (let nth = 0; !isOver || nth < victims.length; nth++) {
        const [namespace, selector] = victims[nth % victims.length] ?? encoders
        if (await killOne(namespace, selector)) killed.push(selector)
        await new Promise((resolve) => setTimeout(resolve, 4_000))
      }
    })()
    try {
      for (let nth = 0; nth < MIN_UPLOADS || (nth < MAX_UPLOADS && listUnkilled().length > 0); nth++) {
        const uploadMethod = methods[nth % methods.length]
        const file = files[nth % files.length]
        if (uploadMethod && file) videos.push(await uploadMethod(uploader, file, `kill-${Date.now()}-${nth}`))
      }
    } finally {
      isOver = true
      await killing
    }
    console.log(`killed: ${killed.join(', ')}`)
    for (const id of videos) {
      const last: { video?: VideoRecord } = {}
      await waitFor(
        async () => {
          const { status, body } = await api.get<VideoRecord>(`/video/${id}`)
          last.video = body
          return status === 200 && body.status.code >= 2000
        },
        { timeout: 600_000, interval: 500, describe: () => `video ${id} to end its encoding: ${JSON.stringify(last.video?.status)}` },
      )
      expect([id, last.video?.status.code]).toEqual([id, 2000])
      expect((await fetch(last.video?.uri.hls ?? '')).status).toBe(200)
    }
    expect(new Set(videos).size).toBeGreaterThanOrEqual(MIN_UPLOADS)
    expect(listUnkilled()).toEqual([])
  })
})
