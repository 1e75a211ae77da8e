import { canExecutePlan, chunkKeys, encodeChunk, listChunk, segmentNames } from '@vitascope/media'
import type { EncodeInput, FilesResult, StoredFile } from '../task/task.ts'
import { chunkScratchBytes, isLong } from '../task/task-resources.ts'
import { streamSegmentsWhile, uploadSegments } from './stream-segments.ts'
import { FfmpegVersionMismatch, type TaskWork } from './task-work.ts'
import { uploadFileList } from './upload.ts'

/** Share of the task's progress for encoding. The rest is the upload of the segments. */
const ENCODE_SHARE = 0.97

/** Encodes one chunk of video, or the audio of the source, and uploads the segments. */
export async function encodeTask(work: TaskWork, input: EncodeInput): Promise<FilesResult> {
  const { storage, tools, scratch, signal, setProgress, stallSeconds } = work
  const { plan, chunk, workPrefix } = input
  if (!canExecutePlan(plan, tools)) throw new FfmpegVersionMismatch()
  const keys = chunkKeys(plan, chunk)
  if (keys.length === 0) throw new Error(`the plan has no chunk ${chunk}`)
  const source = await work.getSource(input.source, chunkScratchBytes(plan, chunk))
  const planned = plan.chunks[chunk]
  const run = (runSignal: AbortSignal) =>
    encodeChunk({
      plan,
      chunkIndex: chunk,
      source,
      scratch,
      tools,
      limits: { stallSeconds },
      signal: runSignal,
      onProgress: ({ frame, seconds }) =>
        setProgress(ENCODE_SHARE * (planned ? frame / planned.frames : seconds / Math.max(0.001, plan.durationSeconds))),
    })
  const streamed = await measureSpeed(work, input, () =>
    isLong(plan, chunk) ? streamSegmentsWhile(work, { plan, chunk, keys, workPrefix }, run) : run(signal).then(none),
  )
  const streamedPaths = new Set(streamed.map(({ path }) => path))
  const segmentPaths = await listChunk(plan, chunk, scratch)
  const paths = [...segmentPaths, ...keys.map((key) => `${key}/${segmentNames.list}`)].filter((path) => !streamedPaths.has(path))
  const files = [...streamed, ...(await uploadSegments(work, { plan, chunk, prefix: workPrefix }, paths))]
  return { kind: 'files', list: await uploadFileList(storage, workPrefix, files, signal) }
}

const none = (): StoredFile[] => []

/** Measures the encoding speed of video, or of audio if the source has no video. */
async function measureSpeed<Result>({ speed }: TaskWork, { plan, chunk }: EncodeInput, encode: () => Promise<Result>): Promise<Result> {
  const planned = plan.chunks[chunk]
  const share = planned && plan.video ? planned.frames / plan.video.frames : 1
  const started = performance.now()
  const output = await encode()
  if (planned || !plan.video) speed.set((plan.durationSeconds * share * 1000) / (performance.now() - started))
  return output
}
