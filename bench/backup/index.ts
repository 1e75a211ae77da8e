import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { waitFor } from '@vitascope/testing'
import { runCommand } from '../../e2e/support/command.ts'
import { asSuperuser } from '../../e2e/support/database.ts'
import { objectProblems } from '../../e2e/support/object-problems.ts'
import { startSourceServer } from '../../e2e/support/source-server.ts'
import { ffmpeg } from '../../e2e/support/sources.ts'
import { startTestPlatform } from '../../e2e/support/test-platform.ts'
import { createTenant, upload, waitUntilSettled } from '../../e2e/support/video-steps.ts'
import { type ReportFigure, singleValue } from '../figure.ts'
import { copyVideos } from './copy-videos.ts'

const goalSeconds = 300
/** Small, because the bench measures the cost per object and row, not the disk. */
const SOURCE = [
  '-f',
  'lavfi',
  '-i',
  'testsrc2=size=128x72:rate=10:duration=2',
  '-f',
  'lavfi',
  '-i',
  'sine=duration=2',
  '-c:v',
  'libx264',
  '-pix_fmt',
  'yuv420p',
]
const run = promisify(execFile)

/**
 * Backs up a platform with many videos and restores it elsewhere, compared with a plain copy of the
 * same files.
 */
export async function bench(args: string[], report: ReportFigure): Promise<void> {
  const { values } = parseArgs({ args, options: { videos: { type: 'string', default: '10000' } } })
  const videos = Number(values.videos)
  if (!Number.isSafeInteger(videos) || videos < 1) throw new Error(`not a whole number above 0: ${values.videos}`)
  const folder = await mkdtemp(join(tmpdir(), 'vitascope-bench-backup-'))
  const sources = await startSourceServer(folder)
  try {
    await measure(folder, sources.url, videos, report)
  } finally {
    await sources.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function measure(folder: string, sourceUrl: string, videos: number, report: ReportFigure): Promise<void> {
  await ffmpeg([...SOURCE, join(folder, 'small.mp4')])
  const first = await startTestPlatform({}, join(folder, 'first'))
  const storageDir = join(first.dataDir, 'storage')
  let isStopped = false
  try {
    const tenant = await createTenant(first.system)
    const api = first.withKey(tenant.key)
    const { id } = await upload(api, tenant.organisationId, `${sourceUrl}/small.mp4`)
    await waitUntilSettled(api, id)
    await asSuperuser(first, (client) => copyVideos(client, storageDir, id, videos - 1))
    const problems = await objectProblems(first)
    if (problems.length > 0) throw new Error(`the copied videos are inconsistent: ${problems.slice(0, 3).join('; ')}`)
    const { stdout } = await run('du', ['-s', '--inodes', storageDir])
    const { stdout: size } = await run('du', ['-s', '-m', storageDir])
    console.log(`${videos} videos of 2 s; ${stdout.split('\t')[0]} files and folders of ${size.split('\t')[0]} MiB`)

    const bare = await timed(async () => {
      await run('cp', ['-r', storageDir, join(folder, 'bare')])
      await run('sync', ['-f', join(folder, 'bare')])
    })
    await rm(join(folder, 'bare'), { recursive: true })
    const to = join(folder, 'backup')
    const backUp = await timed(() => tool('backup', ['--to', to], first.dataDir))
    const repeated = await timed(() => tool('backup', ['--to', to], first.dataDir))
    await first.stop()
    isStopped = true
    await rm(first.dataDir, { recursive: true, maxRetries: 5 })
    const restore = await timed(() => tool('restore', ['--from', to, '--verify'], join(folder, 'second')))
    const settledIn = await timed(() => settle(join(folder, 'second'), videos))
    const line = (name: string, seconds: number) => `${name} ${seconds.toFixed(1)} s (${(seconds / bare).toFixed(2)} x)`
    console.log(
      `plain copy of the files with sync ${bare.toFixed(1)} s; ${line('backup', backUp)}; ${line('second backup into the same folder', repeated)}`,
    )
    console.log(`${line('restore with --verify', restore)}; objects and rows agree ${settledIn.toFixed(1)} s after the start`)
    const goal = { atMost: goalSeconds }
    report({ row: 'backup', title: `backup of ${videos} videos`, unit: 's', value: singleValue(backUp), goal })
    report({ row: 'restore', title: `restore of ${videos} videos`, unit: 's', value: singleValue(restore), goal })
  } finally {
    if (!isStopped) await first.stop()
  }
}

/** Starts the restored platform and waits until its objects and rows agree. */
async function settle(dataDir: string, videos: number): Promise<void> {
  const second = await startTestPlatform({}, dataDir)
  try {
    const count = await asSuperuser(second, async (client) =>
      Number((await client.query('select count(*) as n from catalogue.video')).rows[0].n),
    )
    if (count !== videos) throw new Error(`${count} of ${videos} videos were restored`)
    await waitFor(async () => (await objectProblems(second)).length === 0, { timeout: 300_000, describe: 'objects and rows to agree' })
  } finally {
    await second.stop()
  }
}

async function tool(name: string, args: string[], dataDir: string): Promise<void> {
  const { code, stdout, stderr } = await runCommand(name, args, { VITASCOPE_DATA_DIR: dataDir })
  if (code !== 0) throw new Error(`${name} exited with ${code}: ${stderr}`)
  console.log(`  ${stdout.trim().split('\n').at(-1)}`)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) / 1000
}
