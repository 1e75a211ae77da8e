import { join } from 'node:path'
import { canCarryOut, EncodeFailed, packageRenditions, setFolder, verifySet } from '@vitascope/media'
import { packageScratchBytes } from '../work/scratch-bytes.ts'
import type { FilesResult, PackageInput } from '../work/task.ts'
import { getChunk, type ListedChunk, listChunkFiles } from './get-files.ts'
import { putFiles, putList } from './put-files.ts'
import { AnotherBuild, type TaskWork } from './task-work.ts'

/** Makes the set from all segments, verifies it, and puts it into storage with a list of what it is made of. */
export async function packageTask(work: TaskWork, { plan, chunks, setPrefix, workPrefix }: PackageInput): Promise<FilesResult> {
  const { storage, tools, scratch, signal, onDone } = work
  if (!canCarryOut(plan, tools)) throw new AnotherBuild()
  const listed: ListedChunk[] = []
  for (const chunk of chunks) listed.push(await listChunkFiles(work, chunk))
  await work.takeRoom(
    packageScratchBytes(
      plan,
      listed.flatMap(({ files }) => files),
    ),
  )
  for (const [index, chunk] of listed.entries()) {
    await getChunk(work, chunk)
    onDone((0.2 * (index + 1)) / listed.length)
  }
  await packageRenditions({ plan, scratch, tools, signal })
  onDone(0.5)
  const verified = await verifySet({ plan, scratch, tools, signal })
  onDone(0.7)
  const paths = verified.map((file) => file.path)
  const stored = await putFiles(storage, { folder: join(scratch, setFolder), prefix: setPrefix, paths }, signal)
  const checksums = new Map(stored.map((file) => [file.path, file.sha256]))
  const changed = verified.find((file) => checksums.get(file.path) !== file.sha256)
  if (changed) throw new EncodeFailed('incomplete', `${changed.path}: it changed after it was verified`)
  onDone(1)
  return { list: await putList(storage, workPrefix, verified, signal) }
}
