import { rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { isDomainError } from '@vitascope/errors'
import type { Client } from '@vitascope/grpc'
import { type FfmpegTools, isEncodeFailed, isSourceRefused, makeFolderFor, sandboxFor } from '@vitascope/media'
import { type Task, TaskKind, type WorkServiceService } from '@vitascope/proto/encoding/v1/work'
import type { ObjectStorage } from '@vitascope/storage'
import type { Logger, Metrics } from '@vitascope/telemetry'
import type { Fault } from '../job/job.ts'
import { FilesDiffer } from '../work/file-list.ts'
import type { EncodeInput, PackageInput, ProbeInput, SlidesInput } from '../work/task.ts'
import { encodeTask } from './encode-task.ts'
import { holdTask } from './held-task.ts'
import { packageTask } from './package-task.ts'
import { probeTask } from './probe-task.ts'
import { type ScratchNeeds, type ScratchRoom, ScratchTooSmall } from './scratch-room.ts'
import { slidesTask } from './slides-task.ts'
import type { SourceHold } from './source-hold.ts'
import { AnotherBuild, type TaskWork } from './task-work.ts'

export interface TaskTools {
  work: Client<typeof WorkServiceService>
  storage: ObjectStorage
  tools: FfmpegTools
  office: string | undefined
  log: Logger
  scratchDir: string
  /** Shared by all slots. */
  room: ScratchRoom
  beatMs: number
  stallSeconds: number
  speed: ReturnType<Metrics['gauge']>
  tasks: ReturnType<Metrics['counter']>
}

/** Does one task, to its result, its fault, or back into the queue; what it left in its folder is gone afterwards. True for a result. */
export async function runTask(tools: TaskTools, task: Task, sources: SourceHold, stopping: AbortSignal): Promise<boolean> {
  const { log, tasks } = tools
  const kind = kindNames[task.kind] ?? 'unknown'
  const told = { task: task.taskId, attempt: task.attempt, job: task.jobId, kind }
  const held = holdTask(tools.work, task, tools.beatMs, log)
  const signal = AbortSignal.any([stopping, held.lost])
  const scratch = join(tools.scratchDir, `${task.jobId}-${task.attempt}`)
  const end = (outcome: string) => {
    tasks.inc({ kind, outcome })
    log.info({ ...told, outcome }, 'a task ended')
    return outcome === 'ok'
  }
  let freeRoom = () => {}
  const takeRoom = async (needs: ScratchNeeds) => {
    freeRoom = await tools.room.take(needs, letGo, signal)
  }
  const letGo = async () => {
    log.info(told, 'a task waits for room in the scratch folder')
    await sources.drop()
  }
  log.info(told, 'a task begins')
  try {
    await makeFolderFor(await sandboxFor(tools.tools.ffmpeg), scratch)
    const result = await doTask(task, {
      ...tools,
      scratch,
      getSource: async (source, bytes) => {
        await takeRoom({ source, bytes })
        return sources.get(source, signal)
      },
      takeRoom: (bytes) => takeRoom({ bytes }),
      onFiles: (files) => held.addFiles(files, signal),
      onDone: held.done,
      signal,
    })
    return end((await held.complete(result, stopping)) ? 'ok' : 'lost')
  } catch (error) {
    if (held.lost.aborted) return end('lost')
    if (stopping.aborted) {
      await held.release()
      return end('released')
    }
    const fault = error instanceof ScratchTooSmall || !(await isFull(tools.scratchDir)) ? faultOf(error) : SCRATCH_FULL
    log.warn(
      { ...told, err: error, code: fault.code, detail: isEncodeFailed(error) ? error.detail.slice(-2_000) : undefined },
      'a task failed',
    )
    return end((await held.fail(fault, stopping)) ? 'failed' : 'lost')
  } finally {
    held.stop()
    await rm(scratch, { recursive: true, force: true })
    freeRoom()
  }
}

const kindNames: Readonly<Partial<Record<TaskKind, string>>> = {
  [TaskKind.TASK_KIND_PROBE]: 'probe',
  [TaskKind.TASK_KIND_ENCODE]: 'encode',
  [TaskKind.TASK_KIND_AUDIO]: 'audio',
  [TaskKind.TASK_KIND_PACKAGE]: 'package',
  [TaskKind.TASK_KIND_SLIDES]: 'slides',
}

/** What costs little, and is done beside all else. */
export const LIGHT_KINDS: TaskKind[] = [TaskKind.TASK_KIND_AUDIO]

/** What else this worker knows how to do. */
export const KNOWN_KINDS: TaskKind[] = [
  TaskKind.TASK_KIND_PROBE,
  TaskKind.TASK_KIND_ENCODE,
  TaskKind.TASK_KIND_PACKAGE,
  TaskKind.TASK_KIND_SLIDES,
]

function doTask(task: Task, work: TaskWork): Promise<unknown> {
  // Written by the service of this app, from these types.
  const input: unknown = JSON.parse(task.inputJson)
  switch (task.kind) {
    case TaskKind.TASK_KIND_PROBE:
      return probeTask(work, input as ProbeInput)
    case TaskKind.TASK_KIND_ENCODE:
    case TaskKind.TASK_KIND_AUDIO:
      return encodeTask(work, input as EncodeInput)
    case TaskKind.TASK_KIND_PACKAGE:
      return packageTask(work, input as PackageInput)
    case TaskKind.TASK_KIND_SLIDES:
      return slidesTask(work, input as SlidesInput)
    default:
      throw new Error(`this worker does not know the task kind ${task.kind}`)
  }
}

/** Below this, what ffmpeg left is not to be trusted, and neither is what it said. */
const FULL_BYTES = 16 * 2 ** 20
/** As one of the storage, which has tries for ten minutes: it is there for all jobs, and others may give room. */
const SCRATCH_FULL: Fault = { code: 5004, message: 'the disk of the scratch folder of a worker is full' }

async function isFull(folder: string): Promise<boolean> {
  const disk = await statfs(folder).catch(() => undefined)
  return disk !== undefined && disk.bavail * disk.bsize < FULL_BYTES
}

function faultOf(error: unknown): Fault {
  if (isSourceRefused(error)) return { code: error.code, message: error.message }
  if (error instanceof AnotherBuild) return { code: 5005, message: error.message }
  if (error instanceof ScratchTooSmall) return { code: 5004, message: error.message }
  if (error instanceof FilesDiffer) return { code: 5004, message: 'the storage lost a part of the work' }
  if (isEncodeFailed(error)) {
    if (error.kind === 'unclean') return { code: 5007, message: 'the picture of the source has faults: it is encoded instead of copied' }
    return error.kind === 'incomplete'
      ? { code: 5003, message: 'the encoder did not make what was planned' }
      : { code: 5002, message: `the encoder failed (${error.kind.replaceAll('_', ' ')})` }
  }
  if (isDomainError(error) || (error instanceof Error && 'code' in error)) return { code: 5004, message: 'the storage failed' }
  return { code: 5000, message: 'the worker failed' }
}
