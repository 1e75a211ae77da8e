import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkSegment, MAX_LIST_BYTES } from './check-segment.ts'
import { chunkFolder, chunkKeys, outputKeys } from './encode-chunk.ts'
import { segmentNames } from './encode-command.ts'
import { readSegmentList, type Segment } from './hls-playlist.ts'
import { EncodeError } from './media-errors.ts'
import { chunkIndexes, type EncodePlan } from './plan.ts'
import { linkOutput, type OutputFolder, openOutputFolder, readOutput, useOutput } from './tool-output.ts'

/** Segments of each rendition and audio track, by key. */
export type SegmentsByKey = Map<string, Segment[]>

/**
 * Hard-links the segments of all chunks into `hlsFolder`, with a subfolder for each rendition and
 * audio track. Throws `incomplete` for a missing or empty file and for chunks that cannot be
 * combined: all chunks must have the same initialisation segment, and each segment must contain
 * exactly the planned frames at their times.
 */
export async function collectSegments(plan: EncodePlan, scratch: string, hlsFolder: string): Promise<SegmentsByKey> {
  const collected: SegmentsByKey = new Map()
  for (const key of outputKeys(plan)) {
    const target = join(scratch, hlsFolder, key)
    await mkdir(target, { recursive: true })
    const segments: Segment[] = []
    const chunks = chunkIndexes(plan).filter((chunk) => chunkKeys(plan, chunk).includes(key))
    for (const chunk of chunks) {
      const source = await openOutputFolder(scratch, join(chunkFolder(chunk), key), { mayBeLinked: true })
      try {
        await collectChunk({ plan, key, source, target, isFirst: chunk === chunks[0] }, segments)
      } finally {
        await source.close()
      }
    }
    if (segments.length === 0) throw new EncodeError('incomplete', `${key} has no segment`)
    collected.set(key, segments)
  }
  return collected
}

interface ChunkOfKey {
  plan: EncodePlan
  key: string
  source: OutputFolder
  target: string
  isFirst: boolean
}

/** Links the segments of one chunk and appends them to `segments`. */
async function collectChunk({ plan, key, source, target, isFirst }: ChunkOfKey, segments: Segment[]): Promise<void> {
  const init = join(target, segmentNames.init)
  await useOutput(source, segmentNames.init, async (file) => {
    if (isFirst) return linkOutput(file, init)
    const isSame = (await readOutput(file, MAX_INIT_BYTES)).equals(await readFile(init))
    if (!isSame) throw new EncodeError('incomplete', `${key} has chunks with different initialisation segments`)
  })
  const list = await useOutput(source, segmentNames.list, (file) => readOutput(file, MAX_LIST_BYTES))
  for (const { name, seconds } of readSegmentList(String(list))) {
    const number = segments.length + 1
    if (name !== segmentName(number)) throw new EncodeError('incomplete', `${key} lists ${name} in place of ${segmentName(number)}`)
    await useOutput(source, name, async (file) => {
      await checkSegment(plan, key, number, file.handle)
      await linkOutput(file, join(target, name))
      segments.push({ name, seconds, bytes: file.bytes })
    })
  }
}

/** Maximum size of an initialisation segment, which usually has a few kilobytes. */
const MAX_INIT_BYTES = 2 ** 20

/** Returns the name that `segmentNames.pattern` generates. */
function segmentName(number: number): string {
  return `seg-${String(number).padStart(5, '0')}.m4s`
}
