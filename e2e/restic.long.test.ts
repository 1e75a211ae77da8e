import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { resticPath, s3Path, startS3, type TestS3 } from '@vitascope/testing'
import { runCommand } from './support/command.ts'
import { type SourceServer, startSourceServer } from './support/source-server.ts'
import { makeSource } from './support/sources.ts'
import { startTestPlatform, type TestPlatform } from './support/test-platform.ts'
import { createTenant, upload, waitUntilSettled } from './support/video-steps.ts'

const restic = resticPath()
const testWithPrograms = restic === undefined || s3Path() === undefined ? test.skip : test

let folder: string
let sources: SourceServer
let store: TestS3 | undefined
let platform: TestPlatform | undefined
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-restic-'))
  sources = await startSourceServer(folder)
  await makeSource(folder, 'other.mp4')
}, 60_000)
afterAll(async () => {
  await platform?.remove()
  await store?.stop()
  await sources?.close()
  await rm(folder, { recursive: true, force: true })
}, 60_000)

/** Runs the commands of the guide, in which `/srv/backup` is the folder `to`, and `/srv/restored` is in `folder`. */
async function runGuide(section: string, to: string, env: NodeJS.ProcessEnv): Promise<void> {
  const guide = await readFile(join(import.meta.dirname, '../docs/operate/backup-and-restore.md'), 'utf8')
  const text = guide.split(/^## /m).find((part) => part.startsWith('restic\n')) ?? ''
  const commands = [...text.matchAll(/^ +restic (.*)$/gm)].map(([, args = '']) => args)
  const own = commands.filter((args) => args.startsWith(section))
  expect(own).not.toEqual([])
  for (const args of own) {
    const list = args.split(' ').map((arg) => arg.replace('/srv/backup', to).replace('/srv/restored', join(folder, 'restored-files')))
    await promisify(execFile)(restic ?? '', list, { env })
  }
}

testWithPrograms(
  'a backup folder that restic has stored in a bucket is restored and verified',
  async () => {
    store = await startS3()
    platform = await startTestPlatform()
    const tenant = await createTenant(platform.system)
    const { id } = await upload(platform.withKey(tenant.key), tenant.organisationId, `${sources.url}/other.mp4`)
    expect((await waitUntilSettled(platform.withKey(tenant.key), id)).status.status).toBe('ok')

    const env = {
      ...{ PATH: process.env['PATH'], HOME: folder, RESTIC_CACHE_DIR: join(folder, 'cache'), RESTIC_PASSWORD: 'a password of this test' },
      ...{ RESTIC_REPOSITORY: `s3:${store.endpoint}/${store.bucket}/restic`, AWS_DEFAULT_REGION: store.region },
      ...{ AWS_ACCESS_KEY_ID: store.accessKeyId, AWS_SECRET_ACCESS_KEY: store.secretAccessKey },
    }
    const to = join(folder, 'backup')
    const backUp = async () => {
      const { code, stderr } = await runCommand('backup', ['--to', to], { VITASCOPE_DATA_DIR: platform?.dataDir ?? '' })
      expect([code, stderr]).toEqual([0, ''])
    }
    await backUp()
    await runGuide('init', to, env)
    await runGuide('backup', to, env)
    await backUp()
    await runGuide('backup', to, env)
    await runGuide('forget', to, env)
    await rm(to, { recursive: true })
    await runGuide('restore', to, env)
    // restic restores absolute paths below the target.
    const from = join(folder, 'restored-files', to)
    const restored = await runCommand('restore', ['--from', from, '--verify'], { VITASCOPE_DATA_DIR: join(folder, 'restored') })
    expect([restored.code, restored.stdout]).toEqual([0, expect.stringContaining('is restored and verified')])
  },
  240_000,
)
