import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeArguments } from './encode-command.ts'
import type { FfmpegTools } from './find-ffmpeg.ts'
import { lockedRun, type RunEnd } from './locked-run.ts'
import { EncodeFailed } from './media-errors.ts'
import type { EncodePlan } from './plan.ts'
import { type ProgressReport, progressLines } from './progress.ts'
import { makeFolderFor, type RunLimits, sandboxFor } from './sandbox.ts'
import { placeSource } from './scratch.ts'

export interface ChunkEncode {
  plan: EncodePlan
  chunkIndex: number
  source: string
  scratch: string
  tools: FfmpegTools
  limits?: Partial<RunLimits> | undefined
  onProgress?: ((report: ProgressReport) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Where the segments of a chunk stand in the scratch folder. */
export function chunkFolder(chunkIndex: number): string {
  return `chunk-${String(chunkIndex).padStart(5, '0')}`
}

/** Encodes one chunk: decodes the source once and leaves the fMP4 segments of every rendition and audio track in the scratch folder. */
export async function encodeChunk(work: ChunkEncode): Promise<RunEnd> {
  const { plan, scratch, tools } = work
  const chunk = plan.chunks[work.chunkIndex]
  if (!chunk) throw new RangeError(`the plan has no chunk ${work.chunkIndex}`)
  if (tools.version !== plan.ffmpegVersion) {
    throw new EncodeFailed('incomplete', `planned for ffmpeg ${plan.ffmpegVersion}, this is ${tools.version}: plan again`)
  }
  const folder = chunkFolder(chunk.index)
  const sandbox = await sandboxFor(tools.ffmpeg)
  await placeSource(work.source, scratch, sandbox)
  await rm(join(scratch, folder), { recursive: true, force: true })
  await makeFolderFor(sandbox, join(scratch, folder))
  for (const key of outputKeys(plan)) await makeFolderFor(sandbox, join(scratch, folder, key))
  return lockedRun({
    tool: tools.ffmpeg,
    args: encodeArguments(plan, chunk, folder),
    scratch,
    limits: { cpuSeconds: plan.expectedCpuSeconds * 40 + 300, fileBytes: segmentBytes(plan), ...work.limits },
    onLine: progressLines(work.onProgress ?? (() => {})),
    signal: work.signal,
  })
}

/** The folders of a chunk: a rendition without a picture is its audio track. */
export function outputKeys(plan: EncodePlan): string[] {
  const pictures = plan.renditions.filter((rendition) => rendition.video !== undefined).map((rendition) => rendition.key)
  return [...pictures, ...(plan.audio?.tracks ?? []).map((track) => track.key)]
}

/** Far above what the rate cap allows a segment, far below what could fill a disk. */
function segmentBytes(plan: EncodePlan): number {
  const highest = Math.max(...plan.renditions.map((rendition) => rendition.label))
  return Math.max(8 * 2 ** 20, highest * 125 * plan.segmentSeconds * 8)
}
