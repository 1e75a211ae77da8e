import type { FileHandle } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import {
  checkInit,
  checkSegment,
  chunkFolder,
  type EncodePlan,
  type OutputFile,
  openOutputFolder,
  segmentNames,
  withOutput,
} from '@vitascope/media'
import type { StoredFile } from '../task/task.ts'
import type { TaskWork } from './task-work.ts'
import { forEachPath } from './upload.ts'

const UPLOAD_INTERVAL_MS = 1_000
/** Maximum number of files in one report, so that it is far smaller than a message of 4 MiB. */
const MAX_FILES = 2_000

export interface StreamedChunk {
  plan: EncodePlan
  chunk: number
  keys: readonly string[]
  workPrefix: string
}

/**
 * Uploads the segments of a run while it continues, and reports them. Returns them when the run has
 * ended. A failed upload aborts the run.
 */
export async function streamSegmentsWhile(
  work: TaskWork,
  target: StreamedChunk,
  run: (signal: AbortSignal) => Promise<unknown>,
): Promise<StoredFile[]> {
  const uploaded: StoredFile[] = []
  const [ended, failed] = [new AbortController(), new AbortController()]
  const loop = (async () => {
    while (!ended.signal.aborted) {
      await delay(UPLOAD_INTERVAL_MS, undefined, { signal: ended.signal }).catch(() => {})
      if (!ended.signal.aborted) uploaded.push(...(await uploadNewSegments(work, target, uploaded)))
    }
  })()
  loop.catch((error: unknown) => failed.abort(error))
  try {
    await run(AbortSignal.any([work.signal, failed.signal]))
  } catch (error) {
    throw failed.signal.aborted && !work.signal.aborted ? failed.signal.reason : error
  } finally {
    ended.abort()
    await loop.catch(() => {})
  }
  if (failed.signal.aborted) throw failed.signal.reason
  return uploaded
}

/**
 * Uploads and reports the finished segments. A segment is renamed when it is complete, and its
 * track's init segment exists before it.
 */
async function uploadNewSegments(
  work: TaskWork,
  { plan, chunk, keys, workPrefix }: StreamedChunk,
  uploaded: readonly StoredFile[],
): Promise<StoredFile[]> {
  const paths: string[] = []
  for (const key of keys) {
    const names = (await listNames(work.scratch, `${chunkFolder(chunk)}/${key}`))
      .filter((name) => /^seg-\d{5,}\.m4s$/.test(name))
      .map((name) => `${key}/${name}`)
      .sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    const head = `${key}/${segmentNames.init}`
    if (names.length > 0 && !uploaded.some(({ path }) => path === head)) paths.push(head)
    paths.push(...names)
  }
  const now = paths.slice(0, MAX_FILES)
  if (now.length === 0) return []
  const files = await uploadSegments(work, { plan, chunk, prefix: workPrefix }, now)
  await work.reportFiles(files)
  return files
}

async function listNames(scratch: string, path: string): Promise<string[]> {
  const folder = await openOutputFolder(scratch, path)
  return folder.names().finally(folder.close)
}

export interface ChunkOutput {
  plan: EncodePlan
  chunk: number
  prefix: string
}

/**
 * Uploads files of a chunk. Returns them with the durations of the segments. All files are verified
 * before the first is stored, so that nothing of a broken chunk is stored. ffmpeg may still run, so
 * each file is verified again through the open handle that is uploaded.
 */
export async function uploadSegments(work: TaskWork, output: ChunkOutput, paths: readonly string[]): Promise<StoredFile[]> {
  const { storage, signal } = work
  await forEachPath(paths, signal, (path) => withFile(work, output, path, async () => {}))
  return forEachPath(paths, signal, (path) =>
    withFile(work, output, path, async ({ handle, path: file }, seconds) => {
      const stored = await storage.put(`${output.prefix}/${path}`, { file, handle, move: true }, { signal })
      return { path, seconds, ...stored }
    }),
  )
}

async function withFile<T>(
  { scratch }: TaskWork,
  { plan, chunk }: ChunkOutput,
  path: string,
  use: (file: OutputFile, seconds: number) => Promise<T>,
): Promise<T> {
  return withOutput(scratch, `${chunkFolder(chunk)}/${path}`, async (file) => {
    const [key = '', name = ''] = path.split('/')
    return use(file, await verifyFile(plan, { key, name, handle: file.handle }))
  })
}

interface ChunkFile {
  key: string
  name: string
  handle: FileHandle
}

/**
 * Verifies a file. Returns its duration for the playlist, or 0 for a file that is not a segment.
 */
async function verifyFile(plan: EncodePlan, { key, name, handle }: ChunkFile): Promise<number> {
  if (name === segmentNames.init) await checkInit(key, handle)
  if (!name.endsWith('.m4s')) return 0
  const head = await checkSegment(plan, key, Number.parseInt(name.replace(/^\D+/, ''), 10), handle)
  return Number(head.seconds.toFixed(6))
}
