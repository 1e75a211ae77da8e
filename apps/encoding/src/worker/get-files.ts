import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { chunkFolder } from '@vitascope/media'
import { FilesDiffer, readFileList } from '../work/file-list.ts'
import type { ChunkFiles } from '../work/task.ts'
import type { TaskWork } from './task-work.ts'

/** All files of a chunk, at their paths in its folder, each as it was when it was put. */
export async function getChunk({ storage, scratch, signal }: TaskWork, { chunk, prefix, list }: ChunkFiles): Promise<void> {
  for (const { path, sha256 } of await readFileList(storage, list, undefined, signal)) {
    const file = join(scratch, chunkFolder(chunk), path)
    await mkdir(dirname(file), { recursive: true })
    await storage.download(`${prefix}/${path}`, file, signal)
    const hash = createHash('sha256')
    await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash, { signal })
    if (hash.digest('hex') !== sha256) throw new FilesDiffer(`${path} is not what was stored`)
  }
}
