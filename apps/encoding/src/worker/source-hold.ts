import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { ObjectStorage } from '@vitascope/storage'
import type { StoredSource } from '../job/job.ts'
import { FilesDiffer } from '../work/file-list.ts'
import type { ScratchRoom } from './scratch-room.ts'
import { untilAborted } from './until-aborted.ts'

/** The sources that this worker's tasks need, as local files: the chunks of a video share one copy. */
export interface SourceShelf {
  /** For one slot, which holds one source at a time. */
  hold(): SourceHold
}

export interface SourceHold {
  /** The source, for which a task has taken room, as a local file under a name of ours; it stays there until another one is asked for, or none. */
  get(source: StoredSource, signal: AbortSignal): Promise<string>
  drop(): Promise<void>
}

interface Shelved {
  file: string
  fetched: Promise<void>
  holders: number
  /** Ends the download when nobody waits for it any more. */
  unwanted: AbortController
  /** Of the file. */
  freeRoom: () => void
}

export interface ShelfTools {
  storage: ObjectStorage
  folder: string
  room: Pick<ScratchRoom, 'keep'>
}

export function createSourceShelf({ storage, folder, room }: ShelfTools): SourceShelf {
  const shelf = new Map<string, Shelved>()
  let files = 0

  const take = (source: StoredSource): Shelved => {
    const { object, bytes } = source
    const known = shelf.get(object)
    if (known) {
      known.holders++
      return known
    }
    const file = join(folder, `source-${files++}`)
    const unwanted = new AbortController()
    const freeRoom = room.keep(source)
    const shelved: Shelved = { file, holders: 1, unwanted, freeRoom, fetched: bring(object, bytes, file, unwanted.signal) }
    shelf.set(object, shelved)
    // Whoever asks next tries again.
    shelved.fetched.catch(() => shelf.get(object) === shelved && shelf.delete(object))
    return shelved
  }
  const bring = async (object: string, bytes: number, file: string, signal: AbortSignal) => {
    const got = await storage.download(object, file, signal)
    if (got.bytes !== bytes) throw new FilesDiffer('the source is not what was fetched')
  }
  const giveBack = async (object: string, shelved: Shelved) => {
    if (--shelved.holders > 0) return
    if (shelf.get(object) === shelved) shelf.delete(object)
    shelved.unwanted.abort()
    await shelved.fetched.catch(() => {})
    await rm(shelved.file, { force: true })
    shelved.freeRoom()
  }

  return {
    hold() {
      let held: { object: string; shelved: Shelved } | undefined
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
          // Others may still wait for the same file: it is this wait that ends.
          await untilAborted(fetched, signal)
          return file
        },
        drop,
      }
    },
  }
}
