import { join } from 'node:path'
import type { ObjectStorage } from '@vitascope/storage'
import { FILE_LIST, type StoredFile } from '../task/task.ts'

const MAX_CONCURRENT_UPLOADS = 4

/**
 * Uploads files of a folder below a prefix, under their own paths. No tool may still write to them.
 * Returns them in the order of `paths`.
 */
export async function uploadFiles(
  storage: ObjectStorage,
  { folder, prefix, paths }: { folder: string; prefix: string; paths: readonly string[] },
  signal: AbortSignal,
): Promise<StoredFile[]> {
  return forEachPath(paths, signal, async (path) => ({
    path,
    ...(await storage.put(`${prefix}/${path}`, { file: join(folder, path), move: true }, { signal })),
  }))
}

/** Calls `use` for a few paths concurrently. Returns the results in the order of `paths`. */
export async function forEachPath<T>(paths: readonly string[], signal: AbortSignal, use: (path: string) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let from = 0; from < paths.length; from += MAX_CONCURRENT_UPLOADS) {
    signal.throwIfAborted()
    results.push(...(await Promise.all(paths.slice(from, from + MAX_CONCURRENT_UPLOADS).map(use))))
  }
  return results
}

/** Uploads the list of the files to where the service reads it. */
export async function uploadFileList(storage: ObjectStorage, workPrefix: string, files: readonly StoredFile[], signal: AbortSignal) {
  return storage.put(`${workPrefix}/${FILE_LIST}`, Buffer.from(JSON.stringify(files)), { signal })
}
