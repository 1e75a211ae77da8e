import { join } from 'node:path'
import { canCarryOut, chunkFolder, chunkKeys, EncodeFailed, encodeChunk, listChunk } from '@vitascope/media'
import { chunkScratchBytes, isLong } from '../work/scratch-bytes.ts'
import type { EncodeInput, FilesResult, StoredFile } from '../work/task.ts'
import { filesBelow, putList } from './put-files.ts'
import { feedWhile, putSegments } from './segment-feed.ts'
import { AnotherBuild, type TaskWork } from './task-work.ts'

/** What share of the task the encode is; the rest is putting the segments into storage. */
const ENCODE_SHARE = 0.97

/** Encodes one chunk, or the sound of the whole, and puts its segments into storage. */
export async function encodeTask(work: TaskWork, input: EncodeInput): Promise<FilesResult> {
  const { storage, tools, scratch, signal, onDone, stallSeconds } = work
  const { plan, chunk, workPrefix } = input
  if (!canCarryOut(plan, tools)) throw new AnotherBuild()
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
        onDone(ENCODE_SHARE * (planned ? frame / planned.frames : seconds / Math.max(0.001, plan.durationSeconds))),
    })
  const fed = await timed(work, input, () =>
    isLong(plan, chunk) ? feedWhile(work, { plan, chunk, keys, workPrefix }, run) : run(signal).then(none),
  )
  const folder = join(scratch, chunkFolder(chunk))
  const paths = await filesBelow(folder, '')
  const there = new Set([...fed.map(({ path }) => path), ...paths])
  const missing = (await listChunk(plan, chunk, scratch)).find((path) => !there.has(path))
  if (missing !== undefined) throw new EncodeFailed('incomplete', `the chunk has no ${missing}`)
  const files = [...fed, ...(await putSegments(work, { plan, folder, prefix: workPrefix }, paths))]
  return { list: await putList(storage, workPrefix, files, signal) }
}

const none = (): StoredFile[] => []

/** Tells how fast a picture is encoded; sound alone where there is none. */
async function timed<Made>({ speed }: TaskWork, { plan, chunk }: EncodeInput, make: () => Promise<Made>): Promise<Made> {
  const planned = plan.chunks[chunk]
  const share = planned && plan.video ? planned.frames / plan.video.frames : 1
  const started = performance.now()
  const made = await make()
  if (planned || !plan.video) speed.set((plan.durationSeconds * share * 1000) / (performance.now() - started))
  return made
}
