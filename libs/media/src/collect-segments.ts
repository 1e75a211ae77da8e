import { link, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chunkFolder, outputKeys } from './encode-chunk.ts'
import { segmentNames } from './encode-command.ts'
import { readSegmentList, type Segment } from './hls-playlist.ts'
import { EncodeFailed } from './media-errors.ts'
import type { EncodePlan } from './plan.ts'
import { makeFolderFor, type Sandbox } from './sandbox.ts'
import { plainFileBytes } from './scratch.ts'

/** The segments of each rendition and audio track by key. */
export type SegmentsByKey = Map<string, Segment[]>

/** Gives the segments of all chunks a second name in the folder of the set. What is missing or empty makes the encode incomplete. */
export async function collectSegments(plan: EncodePlan, scratch: string, hlsFolder: string, sandbox: Sandbox): Promise<SegmentsByKey> {
  const collected: SegmentsByKey = new Map()
  for (const key of outputKeys(plan)) {
    const target = join(scratch, hlsFolder, key)
    await makeFolderFor(sandbox, target)
    const segments: Segment[] = []
    for (const chunk of plan.chunks) {
      const source = join(chunkFolder(chunk.index), key)
      if (chunk.index === 0) await place(scratch, join(source, segmentNames.init), join(target, segmentNames.init))
      const list = join(source, segmentNames.list)
      if ((await plainFileBytes(scratch, list)) === 0) throw new EncodeFailed('incomplete', `${key} has no list of segments`)
      for (const { name, seconds } of readSegmentList(await readFile(join(scratch, list), 'utf8'))) {
        if (!/^seg-\d{5,}\.m4s$/.test(name)) throw new EncodeFailed('incomplete', `${key} lists a segment that was not planned`)
        segments.push({ name, seconds, bytes: await place(scratch, join(source, name), join(target, name)) })
      }
    }
    if (segments.length === 0) throw new EncodeFailed('incomplete', `${key} has no segment`)
    collected.set(key, segments)
  }
  return collected
}

async function place(scratch: string, from: string, to: string): Promise<number> {
  const size = await plainFileBytes(scratch, from)
  if (size === 0) throw new EncodeFailed('incomplete', 'a segment is missing or empty')
  await link(join(scratch, from), to)
  return size
}
