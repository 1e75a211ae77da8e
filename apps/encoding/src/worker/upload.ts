import { join } from 'node:path'
import type { ObjectStorage } from '@vitascope/storage'
import { FILE_LIST, type StoredFile } from '../task/task.ts'

const MAX_CONCURRENT_UPLOADS = 4

/**
 * Uploads the files at `paths` in a folder to `prefix`, under the same paths. No process may write
 * to the files at the same time. Returns the stored files in the order of `paths`.
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

/** Calls `use` for at most four paths concurrently. Returns the results in the order of `paths`. */
export async function forEachPath<T>(paths: readonly string[], signal: AbortSignal, use: (path: string) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let from = 0; from < paths.length; from += MAX_CONCURRENT_UPLOADS) {
    signal.throwIfAborted()
    results.push(...(await Promise.all(paths.slice(from, from + MAX_CONCURRENT_UPLOADS).map(use))))
  }
  return results
}

/** Uploads the list of files below the work prefix. The encoding service reads it from there. */
export async function uploadFileList(storage: ObjectStorage, workPrefix: string, files: readonly StoredFile[], signal: AbortSignal) {
  return storage.put(`${workPrefix}/${FILE_LIST}`, Buffer.from(JSON.stringify(files)), { signal })
}
