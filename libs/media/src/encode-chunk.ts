import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { audioArguments, videoArguments } from './encode-command.ts'
import type { FfmpegTools } from './find-ffmpeg.ts'
import { EncodeError, isEncodeError } from './media-errors.ts'
import { audioChunk, type EncodePlan, planVersion } from './plan.ts'
import { type ProgressReport, progressLines } from './progress.ts'
import { defaultLimits, type RunLimits, sandboxFor } from './sandbox.ts'
import { type RunResult, runSandboxed } from './sandboxed-process.ts'
import { linkSource } from './scratch.ts'

export interface ChunkEncode {
  plan: EncodePlan
  /** Index of a picture chunk, or `audioChunk(plan)`. */
  chunkIndex: number
  source: string
  scratch: string
  tools: FfmpegTools
  limits?: Partial<RunLimits> | undefined
  onProgress?: ((report: ProgressReport) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Returns the folder of a chunk's segments in the scratch folder. */
export function chunkFolder(chunkIndex: number): string {
  return `chunk-${String(chunkIndex).padStart(5, '0')}`
}

/**
 * Encodes one chunk: writes the fMP4 segments of every rendition, or of every audio track, to the
 * scratch folder.
 */
export async function encodeChunk(work: ChunkEncode): Promise<RunResult> {
  const { plan, scratch, tools } = work
  const keys = chunkKeys(plan, work.chunkIndex)
  if (keys.length === 0) throw new RangeError(`the plan has no chunk ${work.chunkIndex}`)
  if (!canExecutePlan(plan, tools)) {
    throw new EncodeError(
      'incomplete',
      `the plan has version ${plan.planVersion} for ffmpeg ${plan.ffmpegVersion}; this is version ${planVersion} and ffmpeg ${tools.version}: plan again`,
    )
  }
  const folder = chunkFolder(work.chunkIndex)
  await rm(join(scratch, folder), { recursive: true, force: true })
  // The folders are created before any long work, because the upload of finished segments polls
  // them once a second.
  for (const key of keys) await mkdir(join(scratch, folder, key), { recursive: true })
  await linkSource(work.source, scratch, await sandboxFor(tools.ffmpeg))
  const run = runSandboxed({
    tool: tools.ffmpeg,
    args: chunkArguments(work, folder),
    scratch,
    writes: keys.map((key) => `${folder}/${key}`),
    limits: limitsFor(work),
    onLine: progressLines(work.onProgress ?? (() => {})),
    signal: work.signal,
  })
  return plan.chunks[work.chunkIndex] && hasCopy(plan) ? requireClean(run) : run
}

/** Returns whether a rendition is a copy of the source's encoded picture. */
export function hasCopy({ renditions }: Pick<EncodePlan, 'renditions'>): boolean {
  return renditions.some(({ video }) => video?.copied)
}

/**
 * Throws `unclean` if ffmpeg reported an error. ffmpeg conceals decoding errors, but a browser that
 * receives the copied stream would fail, so such a picture is not copied.
 */
async function requireClean(run: Promise<RunResult>): Promise<RunResult> {
  const unclean = (detail: string) => new EncodeError('unclean', 'the picture of the source has faults: plan again without a copy', detail)
  try {
    const end = await run
    if (end.stderr.trim() !== '') throw unclean(end.stderr)
    return end
  } catch (error) {
    if (isEncodeError(error) && error.kind === 'crashed' && error.message.startsWith('exit code')) throw unclean(error.detail)
    throw error
  }
}

/**
 * Returns whether these tools can execute the plan. Chunks of two builds or two plan versions are
 * never combined.
 */
export function canExecutePlan(
  plan: Pick<EncodePlan, 'ffmpegVersion'> & { planVersion: number },
  tools: Pick<FfmpegTools, 'version'>,
): boolean {
  return plan.planVersion === planVersion && plan.ffmpegVersion === tools.version
}

function chunkArguments({ plan, chunkIndex, tools }: ChunkEncode, folder: string): string[] {
  const chunk = plan.chunks[chunkIndex]
  return chunk ? videoArguments(plan, chunk, folder, tools) : audioArguments(plan, folder)
}

/**
 * Returns the keys of all outputs, which are the names of their folders. An audio-only rendition
 * has no output of its own.
 */
export function outputKeys(plan: EncodePlan): string[] {
  return [...pictureKeys(plan), ...audioKeys(plan)]
}

/** Returns the keys of the outputs of one chunk. */
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

/**
 * Returns the limits of a run. While ffmpeg decodes from a key frame to the first frame of a chunk,
 * it reports no progress. So twice the maximum distance between them is added to the stall limit.
 */
function limitsFor({ plan, chunkIndex, limits }: ChunkEncode): Partial<RunLimits> {
  const chunk = plan.chunks[chunkIndex]
  const expected = chunk?.expectedCpuSeconds ?? plan.audio?.expectedCpuSeconds ?? 0
  const seekStallSeconds = chunk && chunk.startFrame > 0 ? 2 * (plan.video?.keySeconds ?? 0) : 0
  return {
    cpuSeconds: expected * 40 + 300,
    fileBytes: maxSegmentBytes(plan),
    // Audio is encoded much faster than the picture, so the picture has priority.
    ...(chunk ? {} : { niceness: 15 }),
    ...limits,
    stallSeconds: (limits?.stallSeconds ?? defaultLimits.stallSeconds) + seekStallSeconds,
  }
}

/**
 * Returns the maximum size of a segment. It is far above the size that the rate cap allows, and far
 * below the size of a disk.
 */
function maxSegmentBytes(plan: EncodePlan): number {
  const highest = Math.max(...plan.renditions.map((rendition) => rendition.label))
  return Math.max(8 * 2 ** 20, highest * 125 * plan.segmentSeconds * 8)
}
