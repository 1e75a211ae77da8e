import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import type { V1Pod } from '@kubernetes/client-node'
import { waitFor } from '@vitascope/testing'
import { upload, type VideoRecord, waitUntilSettled } from '../../../e2e/support/video-steps.ts'
import { components, describeChart } from '../support/chart.ts'
import { type CertificateFiles, createAuthority } from './support/certificates.ts'
import { apply, kubectl, readKubectlJson } from './support/commands.ts'
import { type LoadReport, percentile, startLoad } from './support/load.ts'
import { certificateSecrets, NAMESPACE } from './support/release.ts'
import { prepareScene, type Scene } from './support/scene.ts'

jest.setTimeout(1_800_000)
/**
 * A connection between services lives two minutes. After this time, all connections use the newest
 * certificates.
 */
const LIFE_OF_CONNECTIONS_MS = 135_000

type Certificates = Record<string, CertificateFiles>

let scene: Scene
let video: VideoRecord

beforeAll(async () => {
  scene = await prepareScene('small.mp4')
  video = await uploadVideo()
})
afterAll(() => scene?.end())

async function uploadVideo(): Promise<VideoRecord> {
  const { id } = await upload(scene.api, scene.tenant.organisationId, `${scene.sources.url}/small.mp4`)
  return waitUntilSettled(scene.api, id, 300_000)
}

/** Returns the number of accepted and rejected certificate changes per pod. */
async function countChanges(): Promise<{ pod: string; accepted: number; rejected: number }[]> {
  const { items } = await readKubectlJson<{ items: V1Pod[] }>('pods', '--namespace', NAMESPACE, '--field-selector=status.phase=Running')
  return Promise.all(
    items.map(async ({ metadata }) => {
      const pod = metadata?.name ?? ''
      const text = await kubectl('get', '--raw', `/api/v1/namespaces/${NAMESPACE}/pods/${pod}:9090/proxy/metrics`)
      const figure = (name: string) => {
        const [, value] = new RegExp(`^${name}[{][^}]*[}] (\\d+)$`, 'm').exec(text) ?? []
        if (value === undefined) throw new Error(`pod ${pod} has no metric ${name}`)
        return Number(value)
      }
      return { pod, accepted: figure('vitascope_tls_changes_total'), rejected: figure('vitascope_tls_rejected_changes_total') }
    }),
  )
}

/** Replaces the secrets. Returns the seconds until every pod has loaded them. */
async function replaceSecrets(certificates: Certificates): Promise<number> {
  const before = new Map((await countChanges()).map(({ pod, accepted }) => [pod, accepted]))
  const started = performance.now()
  await apply(certificateSecrets(certificates))
  const late = async () => (await countChanges()).filter(({ pod, accepted }) => accepted !== (before.get(pod) ?? 0) + 1)
  await waitFor(async () => (await late()).length === 0, {
    timeout: 240_000,
    interval: 5_000,
    describe: 'every pod to load the new certificates',
  })
  return Math.round((performance.now() - started) / 1_000)
}

async function readSecret(name: string): Promise<CertificateFiles> {
  const { data } = await readKubectlJson<{ data: Record<keyof CertificateFiles, string> }>(
    'secret',
    `tls-${name}`,
    '--namespace',
    NAMESPACE,
  )
  const text = (key: keyof CertificateFiles) => Buffer.from(data[key], 'base64').toString()
  return { 'tls.crt': text('tls.crt'), 'tls.key': text('tls.key'), 'ca.crt': text('ca.crt') }
}

async function forAll(make: (name: string) => Promise<CertificateFiles>): Promise<Certificates> {
  const certificates: Certificates = {}
  for (const name of components) certificates[name] = await make(name)
  return certificates
}

/** Returns the same certificates with additional trusted CAs. */
function withAuthorities(certificates: Certificates, authorities: string): Certificates {
  return Object.fromEntries(Object.entries(certificates).map(([name, files]) => [name, { ...files, 'ca.crt': authorities }]))
}

describeChart('certificates', () => {
  test('replacing every certificate and the CA in three steps at 50 calls per second loses no call', async () => {
    const { platform, tenant } = scene
    const restarts = async () =>
      (await readKubectlJson<{ items: V1Pod[] }>('pods', '--namespace', NAMESPACE)).items.map(({ metadata, status }) => [
        metadata?.uid,
        status?.containerStatuses?.[0]?.restartCount,
      ])
    const before = await restarts()
    const rejectedBefore = (await countChanges()).map(({ pod, rejected }) => [pod, rejected])
    const authority = await createAuthority()
    const load = startLoad([`${platform.url}/v2/video/${video.video_id}`, `${platform.url}/v2/video`, video.uri.hls, video.uri.thumbnail], {
      perSecond: 50,
      key: tenant.key,
    })
    const steps: number[] = []
    let uploaded: VideoRecord
    let report: LoadReport
    try {
      const old = await forAll(readSecret)
      const bothAuthorities = `${old['gateway']?.['ca.crt']}${authority.certificate}`
      steps.push(await replaceSecrets(withAuthorities(old, bothAuthorities)))
      const issued = await forAll(authority.issue)
      steps.push(await replaceSecrets(withAuthorities(issued, bothAuthorities)))
      steps.push(await replaceSecrets(issued))
      await delay(LIFE_OF_CONNECTIONS_MS)
      // This involves the uploads of encoding, a worker, and a new pod of a Job, which has only
      // seen the new certificates.
      uploaded = await uploadVideo()
    } finally {
      await authority.discard()
      report = await load.end()
    }
    console.log(
      `all pods loaded the certificates ${steps.join(', ')} s after each step; ${report.responses} responses, ${report.lost.length} lost, 99 % within ${percentile(report, 0.99)} ms`,
    )
    expect(report.lost).toEqual([])
    expect(uploaded.status).toMatchObject({ status: 'ok', code: 2000 })
    expect(await restarts()).toEqual(before)
    expect((await countChanges()).map(({ pod, rejected }) => [pod, rejected])).toEqual(rejectedBefore)
  })
})
