import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { chunkFolder, chunkKeys } from './encode-chunk.ts'
import { segmentNames } from './encode-command.ts'
import { toNumber } from './frame-rate.ts'
import { readSegmentList } from './hls-playlist.ts'
import { EncodeError } from './media-errors.ts'
import { outerBoxes, readSegmentHead, type SegmentHead } from './mp4-boxes.ts'
import type { EncodePlan } from './plan.ts'
import { readOutput, withOutput } from './tool-output.ts'

/**
 * Reads the head of a segment by its number, counted from 1. ffmpeg exits with 0 even if the disk
 * was full, so this checks the result. Throws `EncodeError` of kind `incomplete` for an empty or
 * truncated segment, and for a picture segment that does not contain exactly the planned frames at
 * their times.
 */
export async function checkSegment(plan: EncodePlan, key: string, number: number, file: FileHandle): Promise<SegmentHead> {
  const head = (await outerBoxes(file)) && (await readSegmentHead(file))
  if (!head) throw new EncodeError('incomplete', `segment ${number} of ${key} is truncated or contains no media`)
  if (!plan.video || !plan.renditions.some((rendition) => rendition.key === key && rendition.video)) return head
  const { frames, groupFrames, frameRate } = plan.video
  const start = (number - 1) * groupFrames * 2
  const isAtPlannedTime = Math.abs(head.startSeconds * toNumber(frameRate) - start) < 0.1
  if (!isAtPlannedTime || head.samples !== Math.min(frames - start, groupFrames * 2)) {
    throw new EncodeError('incomplete', `segment ${number} of ${key} does not contain the frames that were planned for it`)
  }
  return head
}

/**
 * Throws `EncodeError` of kind `incomplete` if the initialisation segment of a track is truncated
 * or has no `moov` box.
 */
export async function checkInit(key: string, file: FileHandle): Promise<void> {
  const boxes = await outerBoxes(file)
  if (!boxes?.some(({ type }) => type === 'moov')) throw new EncodeError('incomplete', `${key} has no complete header`)
}

/**
 * Maximum size of a segment list. It has about 64 bytes for each segment: a line with its name and
 * one with its duration.
 */
export const MAX_LIST_BYTES = 8 * 2 ** 20

/**
 * Returns the files of an encoded chunk relative to its folder, from the lists that ffmpeg wrote at
 * its end.
 */
export async function listChunk(plan: EncodePlan, chunkIndex: number, scratch: string): Promise<string[]> {
  const files: string[] = []
  for (const key of chunkKeys(plan, chunkIndex)) {
    const path = join(chunkFolder(chunkIndex), key, segmentNames.list)
    const list = String(await withOutput(scratch, path, (file) => readOutput(file, MAX_LIST_BYTES)))
    const names = readSegmentList(list).map(({ name }) => name)
    const chunk = plan.chunks[chunkIndex]
    const plannedCount = chunk && plan.video ? Math.ceil(chunk.frames / (plan.video.groupFrames * 2)) : names.length
    if (!list.trimEnd().endsWith('#EXT-X-ENDLIST') || names.length === 0 || names.length !== plannedCount) {
      throw new EncodeError('incomplete', `${key} lists other segments than the plan`)
    }
    for (const name of [segmentNames.init, ...names]) files.push(`${key}/${name}`)
  }
  return files
}
