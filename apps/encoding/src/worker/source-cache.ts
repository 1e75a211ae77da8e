import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ObjectStorage } from '@vitascope/storage'
import { untilAborted } from '../common/until-aborted.ts'
import { StoredFilesMismatch } from '../task/file-list.ts'
import type { StoredSource } from '../task/task.ts'
import type { DiskBudget } from './disk-budget.ts'

/**
 * Local copies of the sources that this worker's tasks read. The chunks of a video share one copy.
 */
export interface SourceCache {
  /** Returns a handle for one slot, which holds one source at a time. */
  openHandle(): CacheHandle
}

export interface CacheHandle {
  /**
   * Returns the path of the local copy of a source, for which a task has reserved disk space. The
   * copy stays until the handle gets another source or is dropped.
   */
  get(source: StoredSource, signal: AbortSignal): Promise<string>
  drop(): Promise<void>
}

interface CachedSource {
  file: string
  fetched: Promise<void>
  holders: number
  /** Aborts the download when no task waits for it any more. */
  abort: AbortController
  /** Releases the disk space of the file. */
  releaseSpace: () => void
}

export interface SourceCacheTools {
  storage: ObjectStorage
  folder: string
  diskBudget: Pick<DiskBudget, 'holdSource'>
}

export function createSourceCache({ storage, folder, diskBudget }: SourceCacheTools): SourceCache {
  const entries = new Map<string, CachedSource>()
  let files = 0

  const acquire = (source: StoredSource): CachedSource => {
    const { object, bytes } = source
    const cached = entries.get(object)
    if (cached) {
      cached.holders++
      return cached
    }
    const file = join(folder, `source-${files++}`)
    const abort = new AbortController()
    const releaseSpace = diskBudget.holdSource(source)
    const entry: CachedSource = { file, holders: 1, abort, releaseSpace, fetched: downloadSource(object, bytes, file, abort.signal) }
    entries.set(object, entry)
    // The next request retries the download.
    entry.fetched.catch(() => entries.get(object) === entry && entries.delete(object))
    return entry
  }
  const downloadSource = async (object: string, bytes: number, file: string, signal: AbortSignal) => {
    const download = await storage.download(object, file, signal)
    if (download.bytes !== bytes) throw new StoredFilesMismatch('the source differs from the stored one')
  }
  const release = async (object: string, entry: CachedSource) => {
    if (--entry.holders > 0) return
    if (entries.get(object) === entry) entries.delete(object)
    entry.abort.abort()
    await entry.fetched.catch(() => {})
    await rm(entry.file, { force: true })
    entry.releaseSpace()
  }

  return {
    openHandle() {
      let current: { object: string; entry: CachedSource } | undefined
      const drop = async () => {
        const former = current
        current = undefined
        if (former) await release(former.object, former.entry)
      }
      return {
        async get(source, signal) {
          signal.throwIfAborted()
          if (current && (current.object !== source.object || entries.get(source.object) !== current.entry)) await drop()
          current ??= { object: source.object, entry: acquire(source) }
          const { file, fetched } = current.entry
          // Only this wait is aborted, because other tasks may wait for the same file.
          await untilAborted(fetched, signal)
          return file
        },
        drop,
      }
    },
  }
}
