import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { V1Job } from '@kubernetes/client-node'
import { waitFor } from '@vitascope/testing'
import { testKeyEnvironment } from '@vitascope/testing/principal-keys'
import type { TestEnvironment } from './service-under-test.ts'

/** The service or a worker as a separate process, as in production. */
export interface RunningProcess {
  pid: number
  /** Its log lines. */
  lines: Record<string, unknown>[]
  /** Signal or exit code of the process. */
  exited: Promise<string | number>
  kill(signal: NodeJS.Signals): void
}

/** Thrown if a process ends while a test waits for one of its log lines. */
export class ProcessEnded extends Error {}

const SOURCES = join(import.meta.dirname, '../src')

/** Starts the service. Throws `ProcessEnded` if it ends before it listens. */
export async function startServiceProcess(
  environment: TestEnvironment,
  env: Record<string, string> = {},
): Promise<RunningProcess & { address: string }> {
  const service = await startProcess(environment, 'main.ts', {
    VITASCOPE_ENCODING_LISTEN: '127.0.0.1:0',
    VITASCOPE_ENCODING_DATABASE_URL: environment.databaseUrl,
    VITASCOPE_CATALOGUE_ADDRESS: environment.catalogue.address,
    VITASCOPE_SOURCE_ALLOW: '127.0.0.0/8',
    VITASCOPE_RECONCILE_MS: '300',
    VITASCOPE_FETCH_LEASE_MS: '3000',
    VITASCOPE_RETRY_MS: '50',
    ...env,
  })
  const listening = await waitForLine(service, 'listening')
  return { ...service, address: String(listening['address']) }
}

export async function startWorkerProcess(
  environment: TestEnvironment,
  address: string,
  env: Record<string, string> = {},
): Promise<RunningProcess> {
  const worker = await startProcess(environment, 'worker/main.ts', {
    VITASCOPE_ENCODING_ADDRESS: address,
    VITASCOPE_WORKER_NAME: 'worker-1',
    VITASCOPE_WORKER_HEARTBEAT_MS: '300',
    ...env,
  })
  await waitForLine(worker, 'ready')
  return worker
}

/**
 * Returns the log line with a message. Throws `ProcessEnded` if the process ends before it writes
 * that line.
 */
async function waitForLine({ lines, exited }: RunningProcess, message: string): Promise<Record<string, unknown>> {
  let end: string | number | undefined
  void exited.then((signalOrCode) => {
    end = signalOrCode
  })
  const line = await waitFor(() => lines.find(({ msg }) => msg === message) ?? (end === undefined ? undefined : 'ended'), {
    describe: `the line "${message}"`,
    timeout: 60_000,
  })
  if (typeof line === 'string') throw new ProcessEnded(`the process ended with ${end} before it wrote "${message}"`)
  return line
}

/** Starts the pod of one index of a Job, as a kubelet does. */
export function startPod(
  environment: TestEnvironment,
  address: string,
  job: V1Job,
  index: number,
  additionalEnv: Record<string, string> = {},
): Promise<RunningProcess> {
  const container = job.spec?.template.spec?.containers.find(({ name }) => name === 'worker')
  const env = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value ?? '']))
  return startProcess(environment, 'worker/main.ts', {
    ...env,
    JOB_COMPLETION_INDEX: String(index),
    VITASCOPE_ENCODING_ADDRESS: address,
    VITASCOPE_WORKER_HEARTBEAT_MS: '300',
    ...additionalEnv,
  })
}

const running = new Set<ChildProcess>()

/** Ends the processes of a test, except the process with the id `except`. */
export async function endProcesses({ except }: { except?: number } = {}): Promise<void> {
  const ending = [...running].filter(({ pid }) => pid !== except)
  await Promise.all(
    ending.map(async (child) => {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
    }),
  )
}

async function startProcess(environment: TestEnvironment, main: string, env: Record<string, string>): Promise<RunningProcess> {
  const keyFile = join(environment.folder, 'upload-signing-key')
  await writeFile(keyFile, 'a secret of these tests, long enough')
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(SOURCES, main)], {
    env: {
      PATH: process.env['PATH'],
      ...(process.env['NODE_COMPILE_CACHE'] && { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }),
      ...testKeyEnvironment(main.startsWith('worker/') ? 'worker' : 'encoding'),
      VITASCOPE_UPLOAD_SIGNING_KEY_FILE: keyFile,
      ...(process.env['VITASCOPE_FFMPEG'] && { VITASCOPE_FFMPEG: process.env['VITASCOPE_FFMPEG'] }),
      VITASCOPE_STORAGE_DIR: join(environment.folder, 'storage'),
      VITASCOPE_SCRATCH_DIR: join(environment.folder, 'scratch'),
      VITASCOPE_LOG_LEVEL: 'info',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const lines: Record<string, unknown>[] = []
  let rest = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    for (const part of parts) {
      if (process.env['VITASCOPE_TEST_LOG']) process.stderr.write(`${part}\n`)
      lines.push(JSON.parse(part) as Record<string, unknown>)
    }
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => lines.push({ msg: 'stderr', text }))
  const exited = once(child, 'exit').then(([code, signal]) => {
    running.delete(child)
    return (signal ?? code) as string | number
  })
  if (child.pid === undefined) throw new Error(`${main} did not start`)
  return { pid: child.pid, lines, exited, kill: (signal) => void child.kill(signal) }
}

/** Returns the descendants of a process that run ffmpeg. */
export async function ffmpegsBelow(pid: number): Promise<number[]> {
  const all = await Promise.all(
    (await readdir('/proc'))
      .filter((name) => /^\d+$/.test(name))
      .map(async (name) => {
        const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '')
        const command = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
        return { pid: Number(name), parent, isFfmpeg: /(^|\/)ffmpeg\0/.test(command) && /-progress/.test(command) }
      }),
  )
  const below = (parent: number): typeof all => all.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)])
  return below(pid)
    .filter((one) => one.isFfmpeg)
    .map((one) => one.pid)
}
