import { link, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkSegment } from './check-segment.ts'
import { chunkFolder, chunkKeys, outputKeys } from './encode-chunk.ts'
import { segmentNames } from './encode-command.ts'
import { readSegmentList, type Segment } from './hls-playlist.ts'
import { EncodeFailed } from './media-errors.ts'
import { chunkNumbers, type EncodePlan } from './plan.ts'
import type { Sandbox } from './sandbox.ts'
import { plainFileBytes } from './scratch.ts'
import { makeFolderFor } from './tool-user.ts'

/** The segments of each rendition and audio track by key. */
export type SegmentsByKey = Map<string, Segment[]>

/**
 * Gives the segments of all chunks a second name in the folder of the set. What is missing or empty makes the encode incomplete, and so does a
 * seam: all chunks have the same head, and every segment holds the very frames that were planned for its number, at their time.
 */
export async function collectSegments(plan: EncodePlan, scratch: string, hlsFolder: string, sandbox: Sandbox): Promise<SegmentsByKey> {
  const collected: SegmentsByKey = new Map()
  for (const key of outputKeys(plan)) {
    const target = join(hlsFolder, key)
    await makeFolderFor(sandbox, join(scratch, target))
    const segments: Segment[] = []
    const chunks = chunkNumbers(plan).filter((chunk) => chunkKeys(plan, chunk).includes(key))
    for (const chunk of chunks) {
      const source = join(chunkFolder(chunk), key)
      if (chunk === chunks[0]) await place(scratch, join(source, segmentNames.init), join(target, segmentNames.init))
      else await compareHeads(scratch, key, join(source, segmentNames.init), join(target, segmentNames.init))
      for (const { name, seconds } of await listed(scratch, key, join(source, segmentNames.list))) {
        if (name !== segmentName(segments.length + 1)) throw new EncodeFailed('incomplete', `${key} lists a segment that was not planned`)
        const file = join(target, name)
        segments.push({ name, seconds, bytes: await place(scratch, join(source, name), file) })
        await checkSegment(plan, key, segments.length, join(scratch, file))
      }
    }
    if (segments.length === 0) throw new EncodeFailed('incomplete', `${key} has no segment`)
    collected.set(key, segments)
  }
  return collected
}

async function listed(scratch: string, key: string, list: string): Promise<{ name: string; seconds: number }[]> {
  if ((await plainFileBytes(scratch, list)) === 0) throw new EncodeFailed('incomplete', `${key} has no list of segments`)
  return readSegmentList(await readFile(join(scratch, list), 'utf8'))
}

/** As `segmentNames.pattern` has it. */
function segmentName(number: number): string {
  return `seg-${String(number).padStart(5, '0')}.m4s`
}

async function compareHeads(scratch: string, key: string, init: string, first: string): Promise<void> {
  const size = await plainFileBytes(scratch, init)
  const same = size > 0 && (await readFile(join(scratch, init))).equals(await readFile(join(scratch, first)))
  if (!same) throw new EncodeFailed('incomplete', `${key} has chunks that do not fit together`)
}

async function place(scratch: string, from: string, to: string): Promise<number> {
  const size = await plainFileBytes(scratch, from)
  if (size === 0) throw new EncodeFailed('incomplete', 'a segment is missing or empty')
  await link(join(scratch, from), join(scratch, to))
  return size
}
