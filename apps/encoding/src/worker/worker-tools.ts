import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { hostAndPort } from '@vitascope/config'
import { openChannel, openIdentity, openPrincipalKeys } from '@vitascope/grpc'
import { type FfmpegTools, findFfmpeg, officeFilterCommand, runSandboxed, type Sandbox, sandboxFor } from '@vitascope/media'
import { WorkServiceService } from '@vitascope/proto/encoding/v1/work'
import { openStorage } from '@vitascope/storage'
import { createKeyFileReports, createMetrics, type Logger, observeStorage, serveMetrics } from '@vitascope/telemetry'
import { crashAtPut, createCrashCounter } from '../common/crash-point.ts'
import { findOffice } from '../slides/find-office.ts'
import { findSandboxProblem } from '../slides/libreoffice-sandbox.ts'
import type { WorkerConfig } from './config.ts'
import { createDiskBudget, scratchSize } from './disk-budget.ts'
import { createMemoryBudget } from './memory-budget.ts'
import type { SlotTools } from './run-slot.ts'
import { createSourceCache } from './source-cache.ts'

/** Timeout of the readiness check. It is shorter than the timeout of a Kubernetes probe. */
const READY_TIMEOUT_MS = 800

/** The dependencies that all slots of a worker share. */
export interface WorkerTools {
  shared: SlotTools
  close(): Promise<void>
}

/**
 * Finds ffmpeg and its sandbox, empties the worker's scratch folder, and connects to the service.
 */
export async function openWorkerTools(config: WorkerConfig, log: Logger, stopping: AbortSignal): Promise<WorkerTools> {
  const tools = await findFfmpeg({ path: config.ffmpeg })
  if (tools.warning) log.warn(tools.warning)
  const office = await findSandboxableOffice(config.office, log)
  const sandbox = await sandboxFor(tools.ffmpeg)
  for (const [name, tool] of Object.entries({ ffmpeg: tools.ffmpeg, 'the renderer of slides': process.execPath })) {
    warnOfMissingIsolation(name, await sandboxFor(tool), log)
  }
  await emptyFolder(config.scratchDir)
  await trySandbox(tools, join(config.scratchDir, 'trial'), log)
  const metrics = createMetrics('worker')
  const keyListener = createKeyFileReports({ log, metrics })('s3-keys')
  const opened = await openStorage(config.objects, { onRequest: observeStorage(metrics), keyListener })
  const storage = crashAtPut(opened, createCrashCounter(config.crashAt, 'put'))
  metrics.gauge('vitascope_worker_scratch_free_bytes', 'Free bytes of the file system of the scratch folder', [], async (gauge) => {
    const { bavail, bsize } = await statfs(config.scratchDir)
    gauge.set(bavail * bsize)
  })
  const identity = openIdentity(config.tls, { log, metrics })
  const principals = openPrincipalKeys('worker', config.principalKeys, { log, metrics })
  const channel = openChannel(config.encodingAddress, { service: 'encoding', principals, identity })
  const isReady = async () => !stopping.aborted && (await channel.ready(READY_TIMEOUT_MS))
  const metricsServer = await serveMetrics(metrics, hostAndPort(config.metricsListen), log, isReady)
  const diskBudget = createDiskBudget(() => scratchSize(config))
  const shared: SlotTools = {
    work: channel.client(WorkServiceService),
    storage,
    tools,
    office,
    log,
    scratchDir: config.scratchDir,
    heartbeatMs: config.timing.heartbeatMs,
    stallSeconds: config.timing.stallSeconds,
    memory: createMemoryBudget(config.memoryMib),
    diskBudget,
    sourceCache: createSourceCache({ storage, folder: config.scratchDir, diskBudget }),
    workerId: `${config.name}:${randomUUID()}`,
    speed: metrics.gauge('vitascope_encoding_speed_ratio', 'Encoded seconds of video per second, in the last chunk'),
    tasks: metrics.counter('vitascope_worker_tasks_total', 'Finished tasks, by kind and outcome', ['kind', 'outcome']),
  }
  const { ffmpeg, version, ffprobeVersion } = tools
  const worker = shared.workerId
  log.info(
    {
      ffmpeg,
      version,
      ffprobe_version: ffprobeVersion,
      slots: config.slots,
      office,
      worker,
      sandbox: await sandboxReport(sandbox, office),
    },
    'worker started',
  )
  return {
    shared,
    async close() {
      channel.close()
      identity?.close()
      principals.close()
      await metricsServer.close()
    },
  }
}

/**
 * Returns the path of LibreOffice if it can be sandboxed. Otherwise presentations that require it
 * are rejected.
 */
async function findSandboxableOffice(path: string | undefined, log: Logger): Promise<string | undefined> {
  const office = await findOffice(path)
  const problem = office === undefined ? undefined : await findSandboxProblem(office)
  if (problem === undefined) return office
  log.warn({ office }, `LibreOffice is not used: ${problem}`)
  return undefined
}

/**
 * Runs the tools once in the sandbox. A wrapper script in place of ffmpeg may start programs that
 * the sandbox hides, and this logs it before videos fail.
 */
async function trySandbox({ ffmpeg, ffprobe }: FfmpegTools, scratch: string, log: Logger): Promise<void> {
  for (const tool of [ffmpeg, ffprobe]) {
    await runSandboxed({ tool, args: ['-version'], scratch }).catch((err: unknown) => {
      log.warn(
        { err },
        `${tool} does not run in the sandbox: programs that a script starts must be in /usr, or in the lib folder next to its bin folder`,
      )
    })
  }
  await rm(scratch, { recursive: true, force: true })
}

/** Returns the active protections of ffmpeg, and of LibreOffice if it is used. */
async function sandboxReport(sandbox: Sandbox, office: string | undefined) {
  const { landlock, calls, endsBy, network, users, processLimit } = sandbox
  const { kind, processes } = { processes: undefined, ...processLimit }
  return {
    landlock_abi: landlock ?? 'off',
    seccomp: calls === 'filtered' ? 'on' : 'off',
    processes_end_by: endsBy,
    network,
    own_user: users !== undefined,
    process_limit: kind === 'none' ? 'none' : `${processes} (${kind})`,
    ...(office === undefined ? {} : { office_seccomp: (await officeFilterCommand()).length > 0 ? 'on' : 'off' }),
  }
}

function warnOfMissingIsolation(name: string, { network, diesWithParent, files, users, calls, endsBy }: Sandbox, log: Logger): void {
  if (files === 'all') {
    const forbidden = users ? 'the files that all users may read' : 'the files, the settings and the other jobs of this worker'
    log.warn(`${name} is not isolated from ${forbidden}: isolation requires a kernel with Landlock, perl, and setpriv of util-linux`)
  }
  if (network === 'open') log.warn(`${name} is not isolated from the network: isolation requires util-linux with user namespaces`)
  if (calls === 'all')
    log.warn(
      `${name} runs without a filter of system calls: Linux with seccomp on x86-64 or arm64, perl and setpriv of util-linux are required`,
    )
  if (endsBy === 'group' && calls === 'all')
    log.warn(`${name} can leave processes behind: only a PID namespace, a worker that runs as root, or seccomp prevents this`)
  if (!diesWithParent) log.warn(`${name} continues after its worker is killed: setpriv of util-linux is required to end it`)
}

/** Creates the folder, or removes the files of an earlier process. */
async function emptyFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true })
}
