import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { checkInit, checkSegment, chunkFolder, type EncodePlan, segmentNames } from '@vitascope/media'
import type { StoredFile } from '../work/task.ts'
import { putFiles } from './put-files.ts'
import type { TaskWork } from './task-work.ts'

const FEED_MS = 1_000
/** Of one report; it stays far below 4 MiB. */
const MOST_FILES = 2_000

export interface FeedPlace {
  plan: EncodePlan
  chunk: number
  keys: readonly string[]
  workPrefix: string
}

/**
 * Puts the segments of a run into storage while it goes on, and tells of them; answers them when it has ended. A feed that cannot go on ends
 * the run.
 */
export async function feedWhile(work: TaskWork, place: FeedPlace, run: (signal: AbortSignal) => Promise<unknown>): Promise<StoredFile[]> {
  const fed: StoredFile[] = []
  const [ended, broken] = [new AbortController(), new AbortController()]
  const feed = (async () => {
    while (!ended.signal.aborted) {
      await delay(FEED_MS, undefined, { signal: ended.signal }).catch(() => {})
      if (!ended.signal.aborted) fed.push(...(await feedOnce(work, place, fed)))
    }
  })()
  feed.catch((error: unknown) => broken.abort(error))
  try {
    await run(AbortSignal.any([work.signal, broken.signal]))
  } catch (error) {
    throw broken.signal.aborted && !work.signal.aborted ? broken.signal.reason : error
  } finally {
    ended.abort()
    await feed.catch(() => {})
  }
  if (broken.signal.aborted) throw broken.signal.reason
  return fed
}

/** What is finished by now: a segment gets its name when it is whole, and the head of its track is there before it. */
async function feedOnce(work: TaskWork, { plan, chunk, keys, workPrefix }: FeedPlace, fed: readonly StoredFile[]): Promise<StoredFile[]> {
  const folder = join(work.scratch, chunkFolder(chunk))
  const paths: string[] = []
  for (const key of keys) {
    const names = (await readdir(join(folder, key), { withFileTypes: true }))
      .filter((entry) => entry.isFile() && /^seg-\d{5,}\.m4s$/.test(entry.name))
      .map((entry) => `${key}/${entry.name}`)
      .sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
    const head = `${key}/${segmentNames.init}`
    if (names.length > 0 && !fed.some(({ path }) => path === head)) paths.push(head)
    paths.push(...names)
  }
  const now = paths.slice(0, MOST_FILES)
  if (now.length === 0) return []
  const files = await putSegments(work, { plan, folder, prefix: workPrefix }, now)
  await work.onFiles(files)
  return files
}

export interface ChunkPlace {
  plan: EncodePlan
  folder: string
  prefix: string
}

/** Gives files of a chunk up to the storage, each segment with its length; a viewer may get them at once, so each is looked at before. */
export async function putSegments({ storage, signal }: TaskWork, place: ChunkPlace, paths: readonly string[]): Promise<StoredFile[]> {
  const { plan, folder, prefix } = place
  const seconds = new Map<string, number>()
  for (const path of paths) {
    const [key = '', name = ''] = path.split('/')
    if (name === segmentNames.init) await checkInit(key, join(folder, path))
    if (!name.endsWith('.m4s')) continue
    const head = await checkSegment(plan, key, Number.parseInt(name.replace(/^\D+/, ''), 10), join(folder, path))
    // Such as a playlist says it.
    seconds.set(path, Number(head.seconds.toFixed(6)))
  }
  const files = await putFiles(storage, { folder, prefix, paths }, signal)
  return files.map((file) => ({ ...file, seconds: seconds.get(file.path) ?? 0 }))
}
