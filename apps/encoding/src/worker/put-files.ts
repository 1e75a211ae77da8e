import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { ObjectStorage } from '@vitascope/storage'
import { FILE_LIST, type StoredFile } from '../work/task.ts'

const PUTS_AT_ONCE = 4

/** Every file below `root/folder`, as paths from `root`, in order; links and other oddities are not looked at. The empty folder is the root. */
export async function filesBelow(root: string, folder: string): Promise<string[]> {
  const paths: string[] = []
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`
    if (entry.isDirectory()) paths.push(...(await filesBelow(root, path)))
    else if (entry.isFile()) paths.push(path)
  }
  return paths.sort()
}

/** Gives files up to the storage, below a prefix under their own paths; in the order of `paths`. */
export async function putFiles(
  storage: ObjectStorage,
  { folder, prefix, paths }: { folder: string; prefix: string; paths: readonly string[] },
  signal: AbortSignal,
): Promise<StoredFile[]> {
  const files: StoredFile[] = []
  for (let from = 0; from < paths.length; from += PUTS_AT_ONCE) {
    const puts = paths.slice(from, from + PUTS_AT_ONCE).map(async (path) => {
      signal.throwIfAborted()
      return { path, ...(await storage.put(`${prefix}/${path}`, { file: join(folder, path), move: true }, { signal })) }
    })
    files.push(...(await Promise.all(puts)))
  }
  return files
}

/** Puts the list of the files where the service looks for it. */
export async function putList(storage: ObjectStorage, workPrefix: string, files: readonly StoredFile[], signal: AbortSignal) {
  return storage.put(`${workPrefix}/${FILE_LIST}`, Buffer.from(JSON.stringify(files)), { signal })
}
