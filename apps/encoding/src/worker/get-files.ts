import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { StoredSource } from '../job/job.ts'
import { FilesDiffer, readFileList } from '../work/file-list.ts'
import type { ChunkFiles } from '../work/task.ts'
import type { TaskWork } from './task-work.ts'

/** The source as a local file under a name of ours. */
export async function getSource({ storage, scratch, signal }: TaskWork, { object, bytes }: StoredSource): Promise<string> {
  const file = join(scratch, 'fetched')
  const got = await storage.download(object, file, signal)
  if (got.bytes !== bytes) throw new FilesDiffer('the source is not what was fetched')
  return file
}

/** All files of a chunk, at their paths in the scratch folder, each as it was when it was put. */
export async function getChunk({ storage, scratch, signal }: TaskWork, { prefix, list }: ChunkFiles): Promise<void> {
  for (const { path, sha256 } of await readFileList(storage, list, undefined, signal)) {
    const file = join(scratch, path)
    await mkdir(dirname(file), { recursive: true })
    await storage.download(`${prefix}/${path}`, file, signal)
    const hash = createHash('sha256')
    await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash, { signal })
    if (hash.digest('hex') !== sha256) throw new FilesDiffer(`${path} is not what was stored`)
  }
}
