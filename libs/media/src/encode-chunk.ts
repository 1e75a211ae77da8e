import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pictureArguments, soundArguments } from './encode-command.ts'
import type { FfmpegTools } from './find-ffmpeg.ts'
import { lockedRun, type RunEnd } from './locked-run.ts'
import { EncodeFailed, isEncodeFailed } from './media-errors.ts'
import { audioChunk, type EncodePlan, planVersion } from './plan.ts'
import { type ProgressReport, progressLines } from './progress.ts'
import { defaultLimits, type RunLimits, sandboxFor } from './sandbox.ts'
import { placeSource } from './scratch.ts'
import { makeFolderFor } from './tool-user.ts'

export interface ChunkEncode {
  plan: EncodePlan
  /** Of a chunk of the picture, or `audioChunk(plan)`. */
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

/** Encodes one chunk: leaves the fMP4 segments of every rendition, or of every audio track, in the scratch folder. */
export async function encodeChunk(work: ChunkEncode): Promise<RunEnd> {
  const { plan, scratch, tools } = work
  const keys = chunkKeys(plan, work.chunkIndex)
  if (keys.length === 0) throw new RangeError(`the plan has no chunk ${work.chunkIndex}`)
  if (!canCarryOut(plan, tools)) {
    throw new EncodeFailed('incomplete', `planned for ffmpeg ${plan.ffmpegVersion}, this is ${tools.version}: plan again`)
  }
  const folder = chunkFolder(work.chunkIndex)
  const sandbox = await sandboxFor(tools.ffmpeg)
  await placeSource(work.source, scratch, sandbox)
  await rm(join(scratch, folder), { recursive: true, force: true })
  await makeFolderFor(sandbox, join(scratch, folder))
  for (const key of keys) await makeFolderFor(sandbox, join(scratch, folder, key))
  const run = lockedRun({
    tool: tools.ffmpeg,
    args: chunkArguments(work, folder),
    scratch,
    limits: limitsFor(work),
    onLine: progressLines(work.onProgress ?? (() => {})),
    signal: work.signal,
  })
  return plan.chunks[work.chunkIndex] && hasCopy(plan) ? withoutComplaint(run) : run
}

/** Whether a rendition is the picture of the source as it is stored. */
export function hasCopy({ renditions }: Pick<EncodePlan, 'renditions'>): boolean {
  return renditions.some(({ video }) => video?.copied)
}

/** What ffmpeg conceals while it decodes would stop a browser that gets it as it is: such a picture is not copied. */
async function withoutComplaint(run: Promise<RunEnd>): Promise<RunEnd> {
  const unclean = (detail: string) => new EncodeFailed('unclean', 'the picture of the source has faults: plan again without a copy', detail)
  try {
    const end = await run
    if (end.stderr.trim() !== '') throw unclean(end.stderr)
    return end
  } catch (error) {
    if (isEncodeFailed(error) && error.kind === 'crashed' && error.message.startsWith('exit code')) throw unclean(error.detail)
    throw error
  }
}

/** Chunks of two builds, or of two ways to plan, are never joined. */
export function canCarryOut(
  plan: Pick<EncodePlan, 'ffmpegVersion'> & { planVersion: number },
  tools: Pick<FfmpegTools, 'version'>,
): boolean {
  return plan.planVersion === planVersion && plan.ffmpegVersion === tools.version
}

function chunkArguments({ plan, chunkIndex, tools }: ChunkEncode, folder: string): string[] {
  const chunk = plan.chunks[chunkIndex]
  return chunk ? pictureArguments(plan, chunk, folder, tools) : soundArguments(plan, folder)
}

/** The folders of the whole: a rendition without a picture is its audio track. */
export function outputKeys(plan: EncodePlan): string[] {
  return [...pictureKeys(plan), ...audioKeys(plan)]
}

/** The folders of one chunk. */
export function chunkKeys(plan: EncodePlan, chunkIndex: number): string[] {
  if (plan.chunks[chunkIndex]) return pictureKeys(plan)
  return chunkIndex === audioChunk(plan) ? audioKeys(plan) : []
}

function pictureKeys(plan: EncodePlan): string[] {
  return plan.renditions.filter((rendition) => rendition.video !== undefined).map((rendition) => rendition.key)
}

function audioKeys(plan: EncodePlan): string[] {
  return (plan.audio?.tracks ?? []).map((track) => track.key)
}

/** What is decoded on the way to the first frame of a chunk shows no progress: twice its length is given to it. */
function limitsFor({ plan, chunkIndex, limits }: ChunkEncode): Partial<RunLimits> {
  const chunk = plan.chunks[chunkIndex]
  const expected = chunk?.expectedCpuSeconds ?? plan.audio?.expectedCpuSeconds ?? 0
  const entrySeconds = chunk && chunk.startFrame > 0 ? 2 * (plan.video?.keySeconds ?? 0) : 0
  return {
    cpuSeconds: expected * 40 + 300,
    fileBytes: segmentBytes(plan),
    // Sound is far ahead of the picture in no time: what a viewer waits for goes first.
    ...(chunk ? {} : { niceness: 15 }),
    ...limits,
    stallSeconds: (limits?.stallSeconds ?? defaultLimits.stallSeconds) + entrySeconds,
  }
}

/** Far above what the rate cap allows a segment, far below what could fill a disk. */
function segmentBytes(plan: EncodePlan): number {
  const highest = Math.max(...plan.renditions.map((rendition) => rendition.label))
  return Math.max(8 * 2 ** 20, highest * 125 * plan.segmentSeconds * 8)
}
