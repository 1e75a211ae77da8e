import type { Dirent } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { isErrno } from './disk.ts'
import { isObjectName } from './object-name.ts'
import type { ObjectInfo } from './object-storage.ts'

/**
 * Yields all objects in a folder and below it, in byte order of their names. Skips symbolic links
 * and files whose names are not object names.
 */
export async function* listFolder(folder: string, prefix: string, signal: AbortSignal | undefined): AsyncGenerator<ObjectInfo> {
  for (const entry of await readEntries(folder)) {
    signal?.throwIfAborted()
    const name = prefix === '' ? entry.name : `${prefix}/${entry.name}`
    const path = join(folder, entry.name)
    if (!isObjectName(name)) continue
    if (entry.isDirectory()) yield* listFolder(path, name, signal)
    else if (entry.isFile()) {
      const info = await findObject(path, name)
      if (info) yield info
    }
  }
}

/** Yields the full names of the folders directly in a folder. */
export async function* listFolders(folder: string, prefix: string): AsyncGenerator<string> {
  for (const entry of await readEntries(folder)) {
    const name = prefix === '' ? entry.name : `${prefix}/${entry.name}`
    if (entry.isDirectory() && isObjectName(name)) yield name
  }
}

/** Returns the object at a path, or undefined if there is none. */
export async function findObject(path: string, name: string): Promise<ObjectInfo | undefined> {
  try {
    const stats = await lstat(path)
    return stats.isFile() ? { name, bytes: stats.size, modified: stats.mtime } : undefined
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

async function readEntries(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
  } catch (error) {
    if (isErrno(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}

// Objects in the folder `a` sort as `a/…`: after the object `a-b` and before `a0`.
function sortKey(entry: Dirent): string {
  return entry.isDirectory() ? `${entry.name}/` : entry.name
}
