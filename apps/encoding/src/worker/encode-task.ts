import { chunkFolder, EncodeFailed, encodeChunk } from '@vitascope/media'
import type { EncodeInput, FilesResult } from '../work/task.ts'
import { getSource } from './get-files.ts'
import { filesBelow, putFiles, putList } from './put-files.ts'
import { AnotherBuild, type TaskWork } from './task-work.ts'

/** What share of the task the encode is; the rest is putting the segments into storage. */
const ENCODE_SHARE = 0.97

/** Encodes one chunk and puts its segments into storage. */
export async function encodeTask(work: TaskWork, { source, plan, chunk, workPrefix }: EncodeInput): Promise<FilesResult> {
  const { storage, tools, scratch, signal, onDone, stallSeconds, speed } = work
  if (plan.ffmpegVersion !== tools.version) throw new AnotherBuild()
  const planned = plan.chunks[chunk]
  if (!planned) throw new Error(`the plan has no chunk ${chunk}`)
  const started = performance.now()
  await encodeChunk({
    plan,
    chunkIndex: chunk,
    source: await getSource(work, source),
    scratch,
    tools,
    limits: { stallSeconds },
    signal,
    onProgress: ({ frame, seconds }) =>
      onDone(ENCODE_SHARE * (planned.frames > 0 ? frame / planned.frames : seconds / Math.max(0.001, plan.durationSeconds))),
  })
  // One chunk spans the whole; with more of them its share of the frames is its share of the time.
  const share = plan.video ? planned.frames / plan.video.frames : 1
  speed.set((plan.durationSeconds * share * 1000) / (performance.now() - started))
  const paths = await filesBelow(scratch, chunkFolder(chunk))
  if (paths.length === 0) throw new EncodeFailed('incomplete', 'the chunk has no segments')
  const files = await putFiles(storage, { folder: scratch, prefix: workPrefix, paths }, signal)
  return { list: await putList(storage, workPrefix, files, signal) }
}
