import { createHash } from 'node:crypto'
import { chunkKeys, type EncodePlan, planVersion, type SetFile, type SourceAudio, type SourceProbe } from '@vitascope/media'
import type { LeaseTaskRequest, Task } from '@vitascope/proto/encoding/v1/work'
import type { ObjectStorage } from '@vitascope/storage'
import type {
  EncodeInput,
  FilesResult,
  PackageInput,
  PosterInput,
  ProbeResult,
  SlidesInput,
  StoredFile,
  TaskInput,
  TaskResult,
} from '../src/task/task.ts'
import { readInputMessage, toResultMessage } from '../src/task/task-message.ts'
import { DEFAULT_KINDS, LIGHT_KINDS } from '../src/worker/run-task.ts'
import type { Caller } from './service-under-test.ts'

/** Returns a lease request for any kind of task. */
export function leaseRequest(overrides: Partial<LeaseTaskRequest>): LeaseTaskRequest {
  return { workerId: 'w:1', requestId: '', waitSeconds: 0, kinds: [...DEFAULT_KINDS, ...LIGHT_KINDS], planVersion, ...overrides }
}

/** Simulates a worker without encoding, so that a test controls every step. */
export function createStandInWorker({ work, call }: Caller, storage: ObjectStorage, workerId: string) {
  const lease = async (waitSeconds = 5): Promise<Task> => {
    const { task } = await work.leaseTask(leaseRequest({ workerId, waitSeconds }), call)
    if (!task) throw new Error('there is no task')
    return task
  }
  const complete = (task: Task, result: TaskResult) =>
    work.completeTask({ taskId: task.taskId, fence: task.fence, result: toResultMessage(result) }, call)
  /** Stores the files of a task, and returns its result. */
  const make = async (task: Task): Promise<TaskResult> => {
    const input = readInputMessage(task.input)
    switch (input.kind) {
      case 'probe':
        return buildProbe()
      case 'encode':
        return makeSegments(storage, input)
      case 'slides':
        return makeSlides(storage, input)
      case 'poster':
        return makePoster(storage, input)
      case 'package':
        return makeSet(storage, input)
    }
  }
  return {
    lease,
    make,
    complete,
    extendLease: (task: Task, done = 0) => work.extendTaskLease({ taskId: task.taskId, fence: task.fence, done }, call),
    /** Stores a file and reports it while the task runs. */
    async addSegment(task: Task, path: string, seconds: number) {
      const { workPrefix } = requireInput(task, 'encode')
      const stored = await storage.put(`${workPrefix}/${path}`, Buffer.from(`${path} of ${workPrefix}`))
      await work.addSegments({ taskId: task.taskId, fence: task.fence, files: [{ path, ...stored, seconds }] }, call)
    },
    fail: (task: Task, code: number, message = 'a fault of this test') =>
      work.failTask({ taskId: task.taskId, fence: task.fence, code, message }, call),
    release: (task: Task) => work.releaseTask({ taskId: task.taskId, fence: task.fence }, call),
    /** Leases and completes one task. */
    async runNextTask(): Promise<Task> {
      const task = await lease()
      await complete(task, await make(task))
      return task
    },
  }
}

/** Returns the input of a task. Throws if it is of another kind. */
export function requireInput<Kind extends TaskInput['kind']>({ input }: Task, kind: Kind): Extract<TaskInput, { kind: Kind }> {
  const message = readInputMessage(input)
  // TypeScript does not narrow by a type parameter.
  if (message.kind === kind) return message as Extract<TaskInput, { kind: Kind }>
  throw new Error(`the task is a ${message.kind}, not a ${kind}`)
}

export function buildProbe(): ProbeResult {
  const probe: SourceProbe = {
    container: 'mp4',
    demuxer: 'mov',
    durationSeconds: 5,
    bitrate: 400_000,
    streams: 1,
    video: {
      index: 0,
      codec: 'h264',
      width: 320,
      height: 180,
      rotation: 0,
      frameRate: { numerator: 25, denominator: 1 },
      variableRate: false,
      pixelFormat: 'yuv420p',
      bitDepth: 8,
      interlaced: false,
      transfer: 'bt709',
      declaresColours: true,
      fullRange: false,
      endSeconds: 5,
    },
    audio: [],
  }
  return { kind: 'probe', probe, build: { version: 'n7.0', toneMap: false, codecs: ['h264'] } }
}

/** Returns the probe result of a source whose picture can be copied. */
export function buildCopyableProbe(): ProbeResult {
  const { probe, ...result } = buildProbe()
  if (!probe.video) throw new Error('the probe has a picture')
  const copy = { frames: 125, kbps: 300, timeBase: { numerator: 1, denominator: 12_800 } }
  return { probe: { ...probe, video: { ...probe.video, copy } }, ...result }
}

/** Returns the number of copied renditions in a task's plan. */
export function countCopied(task: Task): number {
  const input = readInputMessage(task.input)
  return 'plan' in input ? input.plan.renditions.filter((rendition) => rendition.video?.copied).length : 0
}

/** Returns the probe result of a source with audio, by default of 20 s in three chunks. */
export function buildLongProbe(seconds = 20): ProbeResult {
  const { probe, ...result } = buildProbe()
  const audio: SourceAudio = {
    index: 1,
    codec: 'aac',
    channels: 2,
    sampleRate: 48_000,
    language: '',
    title: '',
    isDefault: true,
    endSeconds: seconds,
  }
  return {
    probe: {
      ...probe,
      durationSeconds: seconds,
      ...(probe.video && { video: { ...probe.video, endSeconds: seconds, keySeconds: 2 } }),
      audio: [audio],
    },
    ...result,
  }
}

async function makeSegments(storage: ObjectStorage, { workPrefix, plan, chunk }: EncodeInput): Promise<FilesResult> {
  const files = chunkKeys(plan, chunk).flatMap((key): FileToStore[] => [
    { path: `${key}/init.mp4`, content: Buffer.from(`${key}/init.mp4 of ${workPrefix}`), details: { seconds: 0 } },
    ...segmentNumbers(plan, chunk).map((number) => {
      const path = segmentPath(key, number)
      return { path, content: Buffer.from(`${path} of ${workPrefix}`), details: { seconds: 4 } }
    }),
  ])
  return storeFiles(storage, workPrefix, workPrefix, files)
}

/**
 * Returns the segment numbers of a chunk. Segments of the picture have 4 s. Of the audio, only the
 * first segment is made.
 */
export function segmentNumbers({ chunks, durationSeconds }: EncodePlan, chunk: number): number[] {
  const first = chunks[chunk]?.firstSegment ?? 1
  const last = chunks[chunk] ? (chunks[chunk + 1]?.firstSegment ?? 1 + Math.ceil(durationSeconds / 4)) : 2
  return Array.from({ length: last - first }, (_, index) => first + index)
}

export function segmentPath(key: string, number: number): string {
  return `${key}/seg-${String(number).padStart(5, '0')}.m4s`
}

async function makeSet(storage: ObjectStorage, { plan, setPrefix, workPrefix }: PackageInput): Promise<FilesResult> {
  const files = plan.renditions.map(({ key, video }) => ({
    path: `${key}.mp4`,
    content: Buffer.from(`${key} of ${setPrefix}`),
    details: { kind: 'mp4', key, ...(video && { width: video.width, height: video.height }), bitrate: 1000 } as const,
  }))
  return storeFiles(storage, setPrefix, workPrefix, files)
}

async function makeSlides(storage: ObjectStorage, { setPrefix, workPrefix }: SlidesInput): Promise<FilesResult> {
  const content = Buffer.from(`a file of ${setPrefix}`)
  const pages = [1, 2].flatMap((page): FileToStore[] => [
    { path: `slide-000${page}.jpg`, content, details: { kind: 'slide', page, width: 64, height: 36 } },
    { path: `thumb-000${page}.jpg`, content, details: { kind: 'thumbnail', page } },
  ])
  return storeFiles(storage, setPrefix, workPrefix, [...pages, { path: 'document.pdf', content, details: { kind: 'document' } }])
}

async function makePoster(storage: ObjectStorage, { setPrefix, workPrefix }: PosterInput): Promise<FilesResult> {
  const content = Buffer.from(`an image of ${setPrefix}`)
  const files = ['poster.jpg', 'thumbnail.jpg'].map((path) => ({ path, content, details: { width: 64, height: 36 } }))
  return storeFiles(storage, setPrefix, workPrefix, files)
}

type FileToStore = { path: string; content: Buffer; details: Partial<SetFile> | Record<string, unknown> }

async function storeFiles(
  storage: ObjectStorage,
  prefix: string,
  workPrefix: string,
  toStore: readonly FileToStore[],
): Promise<FilesResult> {
  const files: StoredFile[] = []
  for (const { path, content, details } of toStore) files.push({ path, ...(await storage.put(`${prefix}/${path}`, content)), ...details })
  const list = Buffer.from(JSON.stringify(files))
  await storage.put(`${workPrefix}/files.json`, list)
  return { kind: 'files', list: { bytes: list.length, sha256: createHash('sha256').update(list).digest('hex') } }
}
