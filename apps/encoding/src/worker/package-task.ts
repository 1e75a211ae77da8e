import { join } from 'node:path'
import { canExecutePlan, EncodeError, packageRenditions, setFolder, verifySet } from '@vitascope/media'
import type { FilesResult, PackageInput } from '../task/task.ts'
import { packageScratchBytes } from '../task/task-resources.ts'
import { type ChunkWithFiles, downloadChunk, listChunkFiles } from './download.ts'
import { FfmpegVersionMismatch, type TaskWork } from './task-work.ts'
import { uploadFileList, uploadFiles } from './upload.ts'

/** Makes the set from all segments, verifies it, and uploads its files and the list of them. */
export async function packageTask(work: TaskWork, { plan, chunks, setPrefix, workPrefix }: PackageInput): Promise<FilesResult> {
  const { storage, tools, scratch, signal, setProgress } = work
  if (!canExecutePlan(plan, tools)) throw new FfmpegVersionMismatch()
  const chunksWithFiles: ChunkWithFiles[] = []
  for (const chunk of chunks) chunksWithFiles.push(await listChunkFiles(work, chunk))
  await work.reserveDisk(
    packageScratchBytes(
      plan,
      chunksWithFiles.flatMap(({ files }) => files),
    ),
  )
  for (const [index, chunk] of chunksWithFiles.entries()) {
    await downloadChunk(work, chunk)
    setProgress((0.2 * (index + 1)) / chunksWithFiles.length)
  }
  await packageRenditions({ plan, scratch, tools, signal })
  setProgress(0.5)
  const verified = await verifySet({ plan, scratch, tools, signal })
  setProgress(0.7)
  const paths = verified.map((file) => file.path)
  const stored = await uploadFiles(storage, { folder: join(scratch, setFolder), prefix: setPrefix, paths }, signal)
  const checksums = new Map(stored.map((file) => [file.path, file.sha256]))
  const changed = verified.find((file) => checksums.get(file.path) !== file.sha256)
  if (changed) throw new EncodeError('incomplete', `${changed.path} changed after it was verified`)
  setProgress(1)
  return { kind: 'files', list: await uploadFileList(storage, workPrefix, verified, signal) }
}
