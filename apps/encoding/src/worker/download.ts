import { hash } from 'node:crypto'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { chunkFolder } from '@vitascope/media'
import { readFileList, StoredFilesMismatch } from '../task/file-list.ts'
import type { ChunkFiles, StoredFile } from '../task/task.ts'
import type { TaskWork } from './task-work.ts'

const MAX_CONCURRENT_DOWNLOADS = 4

export interface ChunkWithFiles extends ChunkFiles {
  files: StoredFile[]
}

export async function listChunkFiles({ storage, signal }: TaskWork, chunk: ChunkFiles): Promise<ChunkWithFiles> {
  return { ...chunk, files: await readFileList(storage, chunk.list, undefined, signal) }
}

/** Downloads all files of a chunk to their paths in its folder, and verifies their checksums. */
export async function downloadChunk(work: TaskWork, { chunk, prefix, files }: ChunkWithFiles): Promise<void> {
  const folder = join(work.scratch, chunkFolder(chunk))
  for (const path of new Set(files.map((file) => dirname(file.path)))) await mkdir(join(folder, path), { recursive: true })
  for (let from = 0; from < files.length; from += MAX_CONCURRENT_DOWNLOADS) {
    await Promise.all(files.slice(from, from + MAX_CONCURRENT_DOWNLOADS).map((file) => downloadFile(work, { folder, prefix, file })))
  }
}

async function downloadFile(
  { storage, signal }: TaskWork,
  { folder, prefix, file: { path, sha256 } }: { folder: string; prefix: string; file: StoredFile },
): Promise<void> {
  const file = join(folder, path)
  await storage.download(`${prefix}/${path}`, file, signal)
  // A segment is a few seconds of a track, so at most a few MB in memory.
  if (hash('sha256', await readFile(file)) !== sha256) throw new StoredFilesMismatch(`${path} differs from the stored file`)
}
