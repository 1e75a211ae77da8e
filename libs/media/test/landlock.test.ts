// Faults: S13
import { execFile } from 'node:child_process'
import { chmod, chown, copyFile, link, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { landlockCommand } from '../src/landlock.ts'
import type { Sandbox } from '../src/sandbox.ts'

const isRoot = process.getuid?.() === 0
const ordinary = 54_321
let folder: string
let node: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-landlock-'))
  await chmod(folder, 0o755)
  for (const name of ['sandboxed-process', 'sandbox', 'landlock', 'call-filter', 'process-limit', 'tool-user', 'media-errors']) {
    await copyFile(join(import.meta.dirname, `../src/${name}.ts`), join(folder, `${name}.ts`))
  }
  await copyFile(join(import.meta.dirname, 'two-runs.mts'), join(folder, 'two-runs.mts'))
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  // The runs have no traces, and the library is not accessible to an ordinary user.
  const telemetry = join(folder, 'node_modules/@vitascope/telemetry')
  await mkdir(telemetry, { recursive: true })
  await writeFile(join(telemetry, 'package.json'), '{"type":"module","exports":"./index.js"}')
  await writeFile(join(telemetry, 'index.js'), 'export const traced = (_describe, run) => run({ setAttributes() {} })\n')
  // An ordinary user may have no access to the folder of the original.
  node = join(folder, 'node')
  await link(process.execPath, node).catch(() => copyFile(process.execPath, node))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Report {
  files: 'own' | 'all'
  ownUser: boolean
  accesses: string[]
  finalText: string
  endsBy: Sandbox['endsBy']
  calls: Sandbox['calls']
  remainingProcesses: number
}

/** Runs `two-runs.mts` as the user of the test, as `user`, or through the command `front`. */
async function startTwoRuns(
  name: string,
  files: Report['files'],
  { user, front = [] }: { user?: number; front?: string[] } = {},
): Promise<Report> {
  const runFolder = join(folder, name)
  await mkdir(runFolder, { mode: 0o700 })
  if (user !== undefined) await chown(runFolder, user, user)
  const commandLine = [...front, node, '--disable-warning=ExperimentalWarning', join(folder, 'two-runs.mts'), runFolder, files]
  const [command = node, ...args] = commandLine
  const env = { PATH: process.env['PATH'], VITASCOPE_TEST_SECRET: 'must not be seen' }
  const { stdout } = await promisify(execFile)(command, args, { env, ...(user === undefined ? {} : { uid: user, gid: user }) })
  return JSON.parse(stdout) as Report
}

const reachesNothing = { accesses: ['mine'], finalText: 'mine\n', remainingProcesses: 0 }
const reachesSecrets = {
  accesses: expect.arrayContaining([expect.stringMatching(/^reads secrets/), expect.stringMatching(/^writes the work/)]),
}

test('a run can access neither another job nor a secret of the service', async () => {
  const received = await startTwoRuns('current-user', 'own')
  if (isRoot || received.files === 'own') expect(received).toMatchObject(reachesNothing)
  expect(received).toMatchObject(await buildExpectedReport())
})

test('as root, a separate user for each job is sufficient without Landlock', async () => {
  if (isRoot) expect(await startTwoRuns('by-user', 'all')).toMatchObject({ files: 'all', ownUser: true, ...reachesNothing })
})

test('as an ordinary user, isolation requires Landlock, and without it all files of the user can be accessed', async () => {
  if (!isRoot) return
  const received = await startTwoRuns('ordinary', 'own', { user: ordinary })
  expect(received).toMatchObject({ ownUser: false, ...(await buildExpectedReport()) })
  expect(await startTwoRuns('ordinary-all', 'all', { user: ordinary })).toMatchObject({ files: 'all', ...reachesSecrets })
})

test('in a container without namespaces and capabilities, isolation requires Landlock', async () => {
  const restrictAndRun = 'echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all -- "$@"'
  const front = ['unshare', '--user', '--map-root-user', '--', 'sh', '-c', restrictAndRun, 'container']
  const isPossible = await promisify(execFile)('unshare', [...front.slice(1), 'true']).then(
    () => true,
    () => false,
  )
  if (!isPossible) return
  const received = await startTwoRuns('container', 'own', { front })
  expect(received).toMatchObject({ ownUser: false, ...(await buildExpectedReport()) })
  expect(await startTwoRuns('container-all', 'all', { front })).toMatchObject({ files: 'all', ...reachesSecrets })
})

test("as root without permission for namespaces, all processes of the run's user are killed at its end", async () => {
  if (!isRoot) return
  const front = ['setpriv', '--bounding-set=-sys_admin', '--inh-caps=-sys_admin', '--']
  expect(await startTwoRuns('users-alone', 'all', { front })).toMatchObject({ ownUser: true, endsBy: 'user', ...reachesNothing })
})

/**
 * Returns the expected report. The restrictions that the kernel supports are the same for every
 * user.
 */
async function buildExpectedReport(): Promise<object> {
  return (await isLandlockSupported()) ? { files: 'own', ...reachesNothing } : { files: 'all' }
}

/** Returns whether the kernel supports Landlock. It does not depend on the sandbox under test. */
async function isLandlockSupported(): Promise<boolean> {
  const [command = '', ...args] = landlockCommand('perl')
  return promisify(execFile)(command, args).then(
    ({ stdout }) => Number(stdout) > 0,
    () => false,
  )
}
