import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { makePosterImages, posterImageNames } from '@vitascope/media'
import type { FilesResult, PosterFile, PosterInput } from '../task/task.ts'
import type { TaskWork } from './task-work.ts'
import { uploadFileList, uploadFiles } from './upload.ts'

/** Disk space for the two images, which are far smaller. */
const RESULT_BYTES = 16 * 2 ** 20

/**
 * Makes the poster and the thumbnail of a video from a picture or a frame, and uploads them with
 * the list of files.
 */
export async function posterTask(work: TaskWork, { source, atSeconds, setPrefix, workPrefix }: PosterInput): Promise<FilesResult> {
  const { storage, scratch, tools, signal, setProgress, stallSeconds } = work
  const file = await work.getSource(source, RESULT_BYTES)
  const target = join(scratch, 'poster')
  await mkdir(target)
  const sizes = await makePosterImages({
    source: file,
    atSeconds,
    scratch: join(scratch, 'run'),
    target,
    tools,
    limits: { stallSeconds },
    signal,
  })
  setProgress(0.5)
  const { poster, thumbnail } = posterImageNames
  const uploaded = await uploadFiles(storage, { folder: target, prefix: setPrefix, paths: [poster, thumbnail] }, signal)
  const list: PosterFile[] = uploaded.map((one) => ({ ...one, ...(one.path === poster ? sizes.poster : sizes.thumbnail) }))
  setProgress(1)
  return { kind: 'files', list: await uploadFileList(storage, workPrefix, list, signal) }
}
