// Faults: C25
import { cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { recordFigure, waitFor } from '@vitascope/testing'
import { runCommand } from './support/command.ts'
import { asSuperuser, loginsIn } from './support/database.ts'
import { objectProblems } from './support/object-problems.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, type Tenant, upload, type VideoRecord, waitUntilSettled } from './support/video-steps.ts'

const TIMES = {
  VITASCOPE_LEASE_MS: '3000',
  VITASCOPE_FETCH_LEASE_MS: '2000',
  VITASCOPE_WORKER_HEARTBEAT_MS: '500',
  VITASCOPE_RECONCILE_MS: '300',
}

let folder: string
let sources: SourceServer
let platform: TestPlatform
let tenant: Tenant
let videos: VideoRecord[]
const opened: TestPlatform[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-backup-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'other.mp4')
  platform = await startTestPlatform(TIMES)
  tenant = await createTenant(platform.system)
  const api = platform.withKey(tenant.key)
  const added = []
  for (const name of ['first', 'second']) added.push(await upload(api, tenant.organisationId, `${sources.url}/other.mp4`, { name }))
  videos = []
  for (const { id } of added) videos.push(await waitUntilSettled(api, id))
}, 240_000)
afterAll(async () => {
  for (const platformToRemove of opened) await platformToRemove.remove()
  await platform?.remove()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

const to = () => join(folder, 'backup')
const backUp = () => runCommand('backup', ['--to', to()], { VITASCOPE_DATA_DIR: platform.dataDir })
const restoreInto = (dataDir: string, from = to(), env: Record<string, string> = {}) =>
  runCommand('restore', ['--from', from, '--verify'], { VITASCOPE_DATA_DIR: dataDir, ...env })
const fetchBytes = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())
const findMp4Url = (uri: VideoRecord['uri']) => Object.values(uri.http).at(-1) ?? ''
const inFolder = (name: string) => join(folder, name)
const jobCount = (of: TestPlatform) =>
  asSuperuser(of, async (client) => Number((await client.query(`select count(*) as n from encoding.job`)).rows[0].n))

/** Creates videos until stopped. Returns those accepted before `mark`, and all. */
function writers() {
  const api = platform.withKey(tenant.key)
  const [before, all] = [new Set<string>(), new Set<string>()]
  let isMarked = false
  let isOver = false
  const write = async () => {
    while (!isOver) {
      const isBefore = !isMarked
      const { id } = await upload(api, tenant.organisationId, `${sources.url}/none.mp4`, { name: 'written meanwhile' })
      all.add(id)
      if (isBefore && !isMarked) before.add(id)
    }
  }
  const writing = Promise.all([write(), write(), write()])
  return {
    ...{ before, all },
    mark: () => {
      isMarked = true
    },
    stop: async () => {
      isOver = true
      await writing
    },
  }
}

test('a backup under load restores to a consistent platform', async () => {
  const load = writers()
  await waitFor(() => load.all.size >= 6, { timeout: 30_000, describe: 'the writers to begin' })
  load.mark()
  const backup = await backUp()
  await load.stop()
  expect(backup).toMatchObject({ code: 0, stderr: '' })
  expect(backup.stdout).toMatch(/is complete in/)
  expect((await stat(join(to(), 'secrets', 'master-key'))).mode & 0o777).toBe(0o600)

  const second = await mkdtemp(join(tmpdir(), 'vitascope-test-'))
  const restored = await restoreInto(second)
  expect([restored.stderr, restored.code]).toEqual([expect.not.stringContaining('not restored'), 0])
  expect(restored.stdout).toMatch(/is restored and verified/)
  const restoredPlatform = await startTestPlatform(TIMES, second)
  opened.push(restoredPlatform)

  // Videos accepted before the backup must be complete; those accepted during it may be missing.
  const has = async (sql: string) =>
    asSuperuser(restoredPlatform, async (client) => (await client.query<{ id: string }>(sql)).rows.map(({ id }) => id))
  const restoredIds = new Set(await has('select video_id as id from catalogue.video'))
  const missing = [...load.before].filter((id) => !restoredIds.has(id)).length
  recordFigure('C25', `${missing} of ${load.before.size} videos lost that were accepted before the backup`)
  for (const id of load.before) expect(restoredIds.has(id)).toBe(true)
  for (const id of restoredIds) expect(load.all.has(id) || videos.some(({ video_id }) => video_id === id)).toBe(true)
  expect(
    await has('select m.media_id as id from catalogue.media m left join catalogue.video v using (media_id) where v.video_id is null'),
  ).toEqual([])

  // The restored platform accepts the first one's keys, and its database has an older state.
  const api = restoredPlatform.withKey(tenant.key)
  for (const { video_id, uri } of videos) {
    const repeated = await waitUntilSettled(api, video_id)
    expect(repeated.status.status).toBe('ok')
    const [originalBytes, restoredBytes] = [await fetchBytes(findMp4Url(uri)), await fetchBytes(findMp4Url(repeated.uri))]
    expect(restoredBytes.length).toBeGreaterThan(10_000)
    expect(restoredBytes.equals(originalBytes)).toBe(true)
    expect((await fetch(repeated.uri.hls)).status).toBe(200)
  }
  await waitFor(async () => (await has('select failover_id as id from encoding.failover where settle_time is null')).length === 0, {
    timeout: 60_000,
  })
  await waitFor(async () => (await objectProblems(restoredPlatform)).length === 0, {
    timeout: 60_000,
    describe: 'objects and rows to agree',
  })
  expect((await has(`select failover_id as id from encoding.failover`)).length).toBe(3)

  // Ids that the first platform has assigned since are not reused, and new uploads work.
  const next = await upload(api, tenant.organisationId, `${sources.url}/other.mp4`, { name: 'after' })
  expect(load.all.has(next.id)).toBe(false)
  expect((await waitUntilSettled(api, next.id)).status.status).toBe('ok')
}, 240_000)

test('a backup is restored into a database with one login per service, and made from it again', async () => {
  const name = 'elsewhere'
  const urls = await loginsIn(platform, name)
  const settings = Object.fromEntries(
    Object.entries(urls).map(([service, url]) => [`VITASCOPE_${service.toUpperCase()}_DATABASE_URL`, url]),
  )
  const restored = await restoreInto(inFolder(name), to(), settings)
  expect([restored.stderr, restored.code, restored.stdout]).toEqual([
    expect.not.stringContaining('not restored'),
    0,
    expect.stringContaining('is restored and verified'),
  ])
  // No embedded PostgreSQL was started for it.
  expect(await readdir(inFolder(name))).not.toContain('postgres')
  const secrets = Object.fromEntries(
    ['master-key', 'token-keys', 'upload-signing-key', 'idempotency-hash-key'].map((key) => [
      `VITASCOPE_${key.toUpperCase().replaceAll('-', '_')}_FILE`,
      join(inFolder(name), 'secrets', key),
    ]),
  )
  const repeated = await runCommand('backup', ['--to', inFolder('again')], {
    ...settings,
    ...secrets,
    VITASCOPE_STORAGE_DIR: join(inFolder(name), 'storage'),
  })
  expect(repeated).toMatchObject({ code: 0, stderr: '' })
  const parseObjectCounts = (output: string) => /objects: (\d+ of \d+) bytes/.exec(output)?.[1]
  expect(parseObjectCounts(repeated.stdout)).toBe(parseObjectCounts(restored.stdout))
}, 120_000)

test('a second backup copies new files only, and a stopped platform can be backed up', async () => {
  await platform.stop()
  const repeated = await backUp()
  expect(repeated).toMatchObject({ code: 0, stderr: '' })
  expect(repeated.stdout).toMatch(/, 0 of them copied now/)
  expect((await readdir(to())).filter((name) => name.startsWith('run-'))).toHaveLength(1)
  platform = await platform.restart()
  expect(await jobCount(platform)).toBeGreaterThan(2)
}, 120_000)

test('a folder keeps several backups, each of which can be restored', async () => {
  const to = inFolder('generations')
  const backUp = async (keep: string) => {
    const { code, stderr, stdout } = await runCommand('backup', ['--to', to, '--keep', keep], { VITASCOPE_DATA_DIR: platform.dataDir })
    expect([code, stderr]).toEqual([0, ''])
    return /the backup of (\S+) is complete/.exec(stdout)?.[1] ?? ''
  }
  const restore = (...args: string[]) => runCommand('restore', ['--from', to, ...args], { VITASCOPE_DATA_DIR: inFolder('earlier') })
  const [deleted] = videos
  const hasObjects = async () => (await readdir(join(to, 'objects', 'media'))).includes(deleted?.media_id ?? '')

  const first = await backUp('2')
  expect((await platform.withKey(tenant.key).delete(`/media?media_id=${deleted?.media_id}`)).status).toBe(200)
  const hasFiles = async () => (await readdir(join(platform.dataDir, 'storage', 'media'))).includes(deleted?.media_id ?? '')
  await waitFor(async () => !(await hasFiles()), { timeout: 30_000, describe: 'the files of the deleted media to be removed' })
  const second = await backUp('2')
  const { stdout } = await restore('--list')
  expect(
    stdout
      .trim()
      .split('\n')
      .map((line) => line.split(' ')[0]),
  ).toEqual([second, first])
  expect(await hasObjects()).toBe(true)
  const restored = await restore('--at', first, '--verify')
  expect([restored.code, restored.stdout]).toEqual([0, expect.stringContaining(`the backup of ${first} is restored and verified`)])
  const earlier = await startTestPlatform(TIMES, inFolder('earlier'))
  opened.push(earlier)
  const video = await waitUntilSettled(earlier.withKey(tenant.key), deleted?.video_id ?? '')
  expect((await fetchBytes(findMp4Url(video.uri))).length).toBeGreaterThan(10_000)

  // The third backup replaces the first one, whose objects are then in no backup.
  await backUp('2')
  expect(await hasObjects()).toBe(false)
  const gone = await restore('--at', first)
  expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining(`there is no complete backup in ${to} from ${first} or before`)])
}, 180_000)

test('restore rejects a non-empty target and a changed backup', async () => {
  const secondRestore = await restoreInto(platform.dataDir)
  expect(secondRestore.code).toBe(1)
  expect(secondRestore.stderr).toMatch(/the storage is not empty|already has a database/)
  const holds = inFolder('holds')
  await mkdir(join(holds, 'storage', 'media'), { recursive: true })
  await writeFile(join(holds, 'storage', 'media', 'thing'), 'x')
  expect((await restoreInto(holds)).stderr).toContain('the storage is not empty (it has media/thing)')

  const bent = inFolder('bent')
  await cp(to(), bent, { recursive: true })
  const [media = ''] = (await readdir(join(bent, 'objects', 'media'), { recursive: true })).filter((name) => name.endsWith('.mp4'))
  const file = join(bent, 'objects', 'media', media)
  const { size } = await stat(file)
  await rm(file)
  await writeFile(file, Buffer.alloc(size, 1))
  const failed = await restoreInto(inFolder('fresh'), bent)
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining('differs from the backup')])

  const incomplete = inFolder('incomplete')
  await cp(to(), incomplete, { recursive: true })
  const [table = ''] = (await readdir(incomplete, { recursive: true })).filter((name) => name.endsWith('.copy.gz'))
  await rm(join(incomplete, table))
  const stopped = await restoreInto(inFolder('unused'), incomplete)
  expect([stopped.code, stopped.stderr]).toEqual([1, expect.stringMatching(/\nthe restore failed: ENOENT: [^\n]*\n$/)])
}, 150_000)

test.each([
  ['backup', [], 2, 'usage: backup --to DIR'],
  ['backup', ['--to', '/nowhere', '--keep', '0'], 2, 'with N from 1 to 1000'],
  ['backup', ['--to', '/dev/null/here'], 1, 'is not a folder'],
  ['restore', ['--from', '/nowhere'], 1, 'there is no complete backup in /nowhere'],
  ['restore', ['--form', 'x'], 2, "Unknown option '--form'"],
])(
  '%s %j exits with one line of error message',
  async (tool, args, code, sentence) => {
    const end = await runCommand(tool, args, { VITASCOPE_DATA_DIR: platform.dataDir })
    expect([end.code, end.stderr]).toEqual([code, expect.stringContaining(sentence)])
    expect(end.stderr.trim().split('\n')).toHaveLength(1)
  },
  60_000,
)
