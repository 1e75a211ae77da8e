import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { waitFor } from '@vitascope/testing'
import { createApi } from '../../e2e/support/api.ts'
import { type SourceServer, startSourceServer } from '../../e2e/support/source-server.ts'
import { makeSource } from '../../e2e/support/sources.ts'
import { createTenant, upload, type VideoRecord, waitUntilSettled } from '../../e2e/support/video-steps.ts'
import { DOCKER_NETWORK, type DockerDaemon } from '../cluster/docker.ts'
import { COMPOSE_IMAGES } from '../cluster/images/images.ts'

jest.setTimeout(600_000)
const execute = promisify(execFile)
const { machine, gatewayAddress } = DOCKER_NETWORK
const url = `http://${gatewayAddress}:8080`
const file = process.env['VITASCOPE_TEST_CLUSTER']
if (file === undefined) throw new Error('there is no Docker daemon: npm run test:cluster -- --docker starts one')
const { environment } = JSON.parse(readFileSync(file, 'utf8')) as DockerDaemon

/** Settings of docs/operate/install-compose.md, and the images that a registry would provide. */
const settings = {
  VITASCOPE_VERSION: 'cluster',
  VITASCOPE_PUBLIC_URL: url,
  VITASCOPE_BIND: `${gatewayAddress}:8080`,
  VITASCOPE_SOURCE_ALLOW: `${machine}/32`,
  POSTGRES_IMAGE: COMPOSE_IMAGES.postgres,
  VALKEY_IMAGE: COMPOSE_IMAGES.valkey,
  S3_IMAGE: COMPOSE_IMAGES.objects,
}

/** Output of `docker inspect`, limited to the tested fields. */
interface InspectedContainer {
  Config: { Labels: Record<string, string> }
  RestartCount: number
  State: { Pid: number; ExitCode: number; Status: string; StartedAt: string; FinishedAt: string; Health?: { Status: string } }
}

let folder: string
let sources: SourceServer

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vitascope-compose-'))
  for (const part of ['compose', 'compose.yaml'])
    cpSync(join(import.meta.dirname, '../../deploy', part), join(folder, part), { recursive: true })
  await execute(join(folder, 'compose/make-secrets.sh'))
  await makeSource(folder, 'small.mp4')
  sources = await startSourceServer(folder, machine)
  await compose('up', '--detach', '--no-build')
})
afterAll(async () => {
  await compose('down', '--volumes', '--timeout', '10')
  await sources?.close()
  rmSync(folder, { recursive: true, force: true })
})

async function docker(...args: string[]): Promise<string> {
  const { stdout } = await execute('docker', args, { cwd: folder, env: { ...process.env, ...environment, ...settings } })
  return stdout
}
const compose = (...args: string[]) => docker('compose', ...args)

/** Returns the containers by service name. */
async function containers(): Promise<Map<string, InspectedContainer>> {
  const ids = (await compose('ps', '--all', '--quiet')).trim().split('\n')
  const all = JSON.parse(await docker('inspect', ...ids)) as InspectedContainer[]
  return new Map(all.map((container) => [container.Config.Labels['com.docker.compose.service'] ?? '', container]))
}

/** Returns whether a service runs once at each start. */
const runsOnce = (name: string) => name.endsWith('-migrate') || name === 'object-users' || name === 'object-rights'

async function waitUntilHealthy(): Promise<void> {
  const listUnhealthy = async () =>
    [...(await containers())].flatMap(([name, { State }]) =>
      (runsOnce(name) && State.Status === 'exited') || (State.Status === 'running' && State.Health?.Status === 'healthy') ? [] : [name],
    )
  await waitFor(async () => (await listUnhealthy()).length === 0, {
    timeout: 120_000,
    interval: 500,
    describe: 'every container to be healthy',
  })
}

const createKeyApi = (key: string) => createApi(`${url}/v2`, key)
const system = () => createKeyApi(readFileSync(join(folder, 'secrets/system-key'), 'utf8').trim())

async function plays(video: VideoRecord): Promise<void> {
  const fetchLines = async (address: string | URL) => (await (await fetch(address)).text()).split('\n').filter((line) => /^[^#]/.test(line))
  const [variant = ''] = await fetchLines(video.uri.hls)
  const playlist = new URL(variant, video.uri.hls)
  const [segment = ''] = await fetchLines(playlist)
  const response = await fetch(new URL(segment, playlist))
  expect([response.status, (await response.arrayBuffer()).byteLength > 1_000]).toEqual([200, true])
}

let key: string
let video: VideoRecord

test('every container of compose.yaml becomes healthy, and starts after its dependencies', async () => {
  await waitUntilHealthy()
  const all = await containers()
  const services = (await compose('config', '--services')).trim().split('\n')
  expect([...all.keys()].sort()).toEqual(services.sort())
  for (const [name, { State }] of all) {
    if (!runsOnce(name)) continue
    expect([name, State.Status, State.ExitCode]).toEqual([name, 'exited', 0])
    if (!name.endsWith('-migrate')) continue
    const served = all.get(name.replace('-migrate', ''))?.State.StartedAt ?? ''
    expect([name, Date.parse(State.FinishedAt) <= Date.parse(served)]).toEqual([name, true])
  }
})

test('a video is fetched by URL, encoded and delivered', async () => {
  const tenant = await createTenant(system())
  key = tenant.key
  const { id } = await upload(createKeyApi(key), tenant.organisationId, `${sources.url}/small.mp4`)
  video = await waitUntilSettled(createKeyApi(key), id, 180_000)
  expect(video.status).toMatchObject({ status: 'ok', code: 2000 })
  await plays(video)
  expect((await fetch(`${url}/player/${video.video_id}`)).status).toBe(200)
})

test('only the gateway publishes a port, and only the services that require it can connect to the outside', async () => {
  const published = (await docker('ps', '--format', '{{.Names}} {{.Ports}}')).split('\n').filter((line) => line.includes('->'))
  expect(published).toEqual([expect.stringMatching(/^vitascope-gateway-1 10\.255\.1\.2:8080->8080\/tcp$/)])
  // Requests of a proxy on this host come from its first address, as documented in
  // docs/operate/install-compose.md.
  const subnet = await docker('network', 'inspect', '--format', '{{(index .IPAM.Config 0).Subnet}}', 'vitascope_outside')
  expect(subnet.trim()).toBe('172.30.87.0/24')
  const fetchCommand = `fetch('${sources.url}/small.mp4').then(() => process.exit(0), () => process.exit(7))`
  const canConnectOutside = async (service: string) =>
    compose('exec', '--no-TTY', service, 'node', '--eval', fetchCommand).then(
      () => true,
      (error: { code?: number }) => {
        if (error.code !== 7) throw error
        return false
      },
    )
  const outside = await Promise.all(
    ['gateway', 'auth', 'catalogue', 'encoding', 'worker', 'delivery', 'collaboration', 'analytics'].map(async (name) => [
      name,
      await canConnectOutside(name),
    ]),
  )
  expect(outside.filter(([, goes]) => goes).map(([name]) => name)).toEqual(['gateway', 'catalogue', 'encoding'])
})

test('killed processes are restarted', async () => {
  const before = await containers()
  for (const name of ['gateway', 'catalogue', 'worker', 'postgres', 'objects']) process.kill(before.get(name)?.State.Pid ?? 0, 'SIGKILL')
  await waitFor(
    async () => {
      const now = await containers()
      return ['gateway', 'catalogue', 'worker', 'postgres', 'objects'].every((name) => (now.get(name)?.RestartCount ?? 0) >= 1)
    },
    { timeout: 60_000, interval: 500, describe: 'every killed process to be started again' },
  )
  await waitUntilHealthy()
  await plays(video)
})

test('every process exits cleanly on its signal, and the data survives the removal of all containers', async () => {
  await compose('stop')
  const ends = [...(await containers())].map(([name, { State }]) => [name, State.ExitCode])
  expect(ends.filter(([, code]) => code !== 0)).toEqual([])
  await compose('down')
  await compose('up', '--detach', '--no-build')
  await waitUntilHealthy()
  const { status, body } = await createKeyApi(key).get<VideoRecord>(`/video/${video.video_id}`)
  expect([status, body.status.status]).toEqual([200, 'ok'])
  await plays(video)
})

test('a backup of the running platform is restored into new volumes, with new passwords', async () => {
  await compose('run', '--rm', 'backup')
  await compose('down')
  const [{ Mountpoint: volume }] = JSON.parse(await docker('volume', 'inspect', 'vitascope_backup')) as [{ Mountpoint: string }]
  const volumes = (await compose('config', '--volumes')).trim().split('\n')
  await docker('volume', 'rm', ...volumes.filter((name) => name !== 'backup').map((name) => `vitascope_${name}`))
  rmSync(join(folder, 'secrets'), { recursive: true })
  cpSync(join(volume, 'platform/secrets'), join(folder, 'secrets'), { recursive: true })
  await execute(join(folder, 'compose/make-secrets.sh'))
  await compose('run', '--rm', 'restore')
  await compose('up', '--detach', '--no-build')
  await waitUntilHealthy()
  const { status, body } = await createKeyApi(key).get<VideoRecord>(`/video/${video.video_id}`)
  expect([status, body]).toEqual([200, video])
  await plays(video)
  expect((await system().get('/video')).status).toBe(200)
})
