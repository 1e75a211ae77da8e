import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chunkFolder, chunkKeys } from './encode-chunk.ts'
import { segmentNames } from './encode-command.ts'
import { toNumber } from './frame-rate.ts'
import { readSegmentList } from './hls-playlist.ts'
import { EncodeFailed } from './media-errors.ts'
import { outerBoxes, readSegmentHead, type SegmentHead } from './mp4-boxes.ts'
import type { EncodePlan } from './plan.ts'
import { plainFileBytes } from './scratch.ts'

/**
 * Reads the head of a segment, by its number from 1. ffmpeg ends well also where a disk was full: a segment that is empty or cut, and a picture whose
 * segment does not hold the very frames that were planned for it, at their time, throws `EncodeFailed` of kind `incomplete`.
 */
export async function checkSegment(plan: EncodePlan, key: string, number: number, file: string): Promise<SegmentHead> {
  const head = (await outerBoxes(file)) && (await readSegmentHead(file))
  if (!head) throw new EncodeFailed('incomplete', `segment ${number} of ${key} is cut short or holds no media`)
  if (!plan.video || !plan.renditions.some((rendition) => rendition.key === key && rendition.video)) return head
  const { frames, groupFrames, frameRate } = plan.video
  const start = (number - 1) * groupFrames * 2
  const isInPlace = Math.abs(head.startSeconds * toNumber(frameRate) - start) < 0.1
  if (!isInPlace || head.samples !== Math.min(frames - start, groupFrames * 2)) {
    throw new EncodeFailed('incomplete', `segment ${number} of ${key} does not hold the frames that were planned for it`)
  }
  return head
}

/** The same of the head of a track. */
export async function checkInit(key: string, file: string): Promise<void> {
  const boxes = await outerBoxes(file)
  if (!boxes?.some(({ type }) => type === 'moov')) throw new EncodeFailed('incomplete', `${key} has no whole head`)
}

/** The files that a chunk which was made consists of, relative to its folder, by the lists that ffmpeg wrote at its end. */
export async function listChunk(plan: EncodePlan, chunkIndex: number, scratch: string): Promise<string[]> {
  const files: string[] = []
  for (const key of chunkKeys(plan, chunkIndex)) {
    const path = join(chunkFolder(chunkIndex), key, segmentNames.list)
    const list = (await plainFileBytes(scratch, path)) === 0 ? '' : await readFile(join(scratch, path), 'utf8')
    const names = readSegmentList(list).map(({ name }) => name)
    const chunk = plan.chunks[chunkIndex]
    const planned = chunk && plan.video ? Math.ceil(chunk.frames / (plan.video.groupFrames * 2)) : names.length
    if (!list.trimEnd().endsWith('#EXT-X-ENDLIST') || names.length === 0 || names.length !== planned) {
      throw new EncodeFailed('incomplete', `${key} lists other segments than were planned`)
    }
    files.push(...[segmentNames.init, ...names].map((name) => `${key}/${name}`))
  }
  return files
}
