import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { hostAndPort } from '@vitascope/config'
import { openChannel, openIdentity, principalKey } from '@vitascope/grpc'
import { type FfmpegTools, findFfmpeg, lockedRun, type Sandbox, sandboxFor } from '@vitascope/media'
import { WorkServiceService } from '@vitascope/proto/encoding/v1/work'
import { openStorage } from '@vitascope/storage'
import { createMetrics, type Logger, serveMetrics } from '@vitascope/telemetry'
import { crashCount, dyingAtPut } from '../crash-point.ts'
import { findOffice } from '../slides/find-office.ts'
import { whyNoRoom } from '../slides/office-room.ts'
import type { WorkerConfig } from './config.ts'
import { createMemoryRoom } from './memory-room.ts'
import type { SlotTools } from './run-slot.ts'
import { createScratchRoom, scratchSize } from './scratch-room.ts'
import { createSourceShelf } from './source-hold.ts'

/** A probe waits a little longer. */
const READY_MS = 800

/** What a worker does its tasks with. */
export interface WorkerTools {
  shared: SlotTools
  close(): Promise<void>
}

/** Looks for ffmpeg and what locks it up, empties the folder of this worker, and connects to the service. */
export async function openWorkerTools(config: WorkerConfig, log: Logger, stopping: AbortSignal): Promise<WorkerTools> {
  const tools = await findFfmpeg({ path: config.ffmpeg })
  if (tools.warning) log.warn(tools.warning)
  const office = await lockableOffice(config.office, log)
  const { network } = await sandboxFor(tools.ffmpeg)
  for (const [name, tool] of Object.entries({ ffmpeg: tools.ffmpeg, 'the renderer of slides': process.execPath })) {
    warnOfOpenLocks(name, await sandboxFor(tool), log)
  }
  await emptyFolder(config.scratchDir)
  await tryLockedUp(tools, join(config.scratchDir, 'trial'), log)
  const storage = dyingAtPut(await openStorage(config.objects), crashCount(config.crashAt, 'put'))
  const metrics = createMetrics('worker')
  const identity = openIdentity(config.tls, { log, metrics })
  const channel = openChannel(config.encodingAddress, {
    principalKey: principalKey(config.principalKey),
    peer: identity?.peer('encoding'),
  })
  const isReady = async () => !stopping.aborted && (await channel.ready(READY_MS))
  const page = await serveMetrics(metrics, hostAndPort(config.metricsListen), log, isReady)
  const room = createScratchRoom(() => scratchSize(config))
  const shared: SlotTools = {
    work: channel.client(WorkServiceService),
    storage,
    tools,
    office,
    log,
    scratchDir: config.scratchDir,
    beatMs: config.timing.beatMs,
    stallSeconds: config.timing.stallSeconds,
    memory: createMemoryRoom(config.memoryMib),
    room,
    shelf: createSourceShelf({ storage, folder: config.scratchDir, room }),
    workerId: `${config.name}:${randomUUID()}`,
    speed: metrics.gauge('vitascope_encode_speed', 'Seconds of video encoded in a second, of the last chunk'),
    tasks: metrics.counter('vitascope_worker_tasks_total', 'Tasks by kind and outcome', ['kind', 'outcome']),
  }
  log.info({ ffmpeg: tools.ffmpeg, version: tools.version, slots: config.slots, network, office, worker: shared.workerId }, 'working')
  return {
    shared,
    async close() {
      channel.close()
      identity?.close()
      await page.close()
    },
  }
}

/** LibreOffice, where there is one that can be locked up; else the files that need it are refused. */
async function lockableOffice(path: string | undefined, log: Logger): Promise<string | undefined> {
  const office = await findOffice(path)
  const problem = office === undefined ? undefined : await whyNoRoom(office)
  if (problem === undefined) return office
  log.warn({ office }, `LibreOffice is not used: ${problem}`)
  return undefined
}

/** A script in place of ffmpeg may start what it cannot reach inside: that is told here, before videos fail. */
async function tryLockedUp({ ffmpeg, ffprobe }: FfmpegTools, scratch: string, log: Logger): Promise<void> {
  for (const tool of [ffmpeg, ffprobe]) {
    await lockedRun({ tool, args: ['-version'], scratch }).catch((err: unknown) => {
      log.warn({ err }, `${tool} does not run locked up: what a script starts has to lie in /usr, or in lib beside the bin that it is in`)
    })
  }
  await rm(scratch, { recursive: true, force: true })
}

function warnOfOpenLocks(name: string, { network, diesWithParent, files, users }: Sandbox, log: Logger): void {
  if (files === 'all') {
    const what = users ? 'the files that everybody may read' : 'the files, the settings and the other jobs of this worker'
    log.warn(`${name} cannot be kept from ${what} on this machine: a kernel with Landlock, perl, and setpriv of util-linux would do it`)
  }
  if (network === 'open') log.warn(`${name} cannot be kept from the network on this machine: util-linux with user namespaces would do it`)
  if (!diesWithParent) log.warn(`${name} outlives a killed worker on this machine: setpriv of util-linux would end it`)
}

/** What a process before this one left there. */
async function emptyFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true })
}
