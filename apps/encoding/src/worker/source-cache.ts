import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ObjectStorage } from '@vitascope/storage'
import { StoredFilesMismatch } from '../task/file-list.ts'
import type { StoredSource } from '../task/task.ts'
import type { DiskBudget } from './disk-budget.ts'
import { untilAborted } from './until-aborted.ts'

/**
 * Local copies of the sources that this worker's tasks read. The chunks of a video share one copy.
 */
export interface SourceCache {
  /** Returns a handle for one slot, which holds one source at a time. */
  hold(): CacheHandle
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
  unwanted: AbortController
  /** Releases the disk space of the file. */
  freeSpace: () => void
}

export interface SourceCacheTools {
  storage: ObjectStorage
  folder: string
  diskBudget: Pick<DiskBudget, 'keep'>
}

export function createSourceCache({ storage, folder, diskBudget }: SourceCacheTools): SourceCache {
  const shelf = new Map<string, CachedSource>()
  let files = 0

  const take = (source: StoredSource): CachedSource => {
    const { object, bytes } = source
    const known = shelf.get(object)
    if (known) {
      known.holders++
      return known
    }
    const file = join(folder, `source-${files++}`)
    const unwanted = new AbortController()
    const freeSpace = diskBudget.keep(source)
    const shelved: CachedSource = { file, holders: 1, unwanted, freeSpace, fetched: bring(object, bytes, file, unwanted.signal) }
    shelf.set(object, shelved)
    // The next request retries the download.
    shelved.fetched.catch(() => shelf.get(object) === shelved && shelf.delete(object))
    return shelved
  }
  const bring = async (object: string, bytes: number, file: string, signal: AbortSignal) => {
    const got = await storage.download(object, file, signal)
    if (got.bytes !== bytes) throw new StoredFilesMismatch('the source is not what was fetched')
  }
  const giveBack = async (object: string, shelved: CachedSource) => {
    if (--shelved.holders > 0) return
    if (shelf.get(object) === shelved) shelf.delete(object)
    shelved.unwanted.abort()
    await shelved.fetched.catch(() => {})
    await rm(shelved.file, { force: true })
    shelved.freeSpace()
  }

  return {
    hold() {
      let held: { object: string; shelved: CachedSource } | undefined
      const drop = async () => {
        const former = held
        held = undefined
        if (former) await giveBack(former.object, former.shelved)
      }
      return {
        async get(source, signal) {
          signal.throwIfAborted()
          if (held && (held.object !== source.object || shelf.get(source.object) !== held.shelved)) await drop()
          held ??= { object: source.object, shelved: take(source) }
          const { file, fetched } = held.shelved
          // Only this wait is aborted, because other tasks may wait for the same file.
          await untilAborted(fetched, signal)
          return file
        },
        drop,
      }
    },
  }
}
