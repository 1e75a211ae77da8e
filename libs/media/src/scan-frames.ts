import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bestPicture } from './best-frame.ts'
import { ffmpegArguments } from './ffmpeg-arguments.ts'
import type { FfmpegTools } from './find-ffmpeg.ts'
import type { Segment } from './hls-playlist.ts'
import type { EncodePlan, PlannedRendition } from './plan.ts'
import { previewGraph, previewOutput, previewSegments } from './preview.ts'
import { progressLines } from './progress.ts'
import type { RunLimits } from './sandbox.ts'
import { runSandboxed } from './sandboxed-process.ts'
import { canDecodeKeyFramesAlone, type ImageWork, joinSegments, jpegOutput, segmentInput, toJpegSize } from './segment-file.ts'
import { outputFolder, setFolder, setLayout } from './set-layout.ts'
import { planStoryboard, type StoryboardPlan, storyboardVtt } from './storyboard.ts'
import { readOutput, withOutput } from './tool-output.ts'

export interface FrameScan {
  plan: EncodePlan
  segments: ReadonlyMap<string, readonly Segment[]>
  scratch: string
  tools: FfmpegTools
  limits?: Partial<RunLimits> | undefined
  signal?: AbortSignal | undefined
}

/**
 * Reads at most a hundred key frames of a small rendition, and the start of three segments. Creates
 * the storyboard and the animated preview, and returns the index of the frame that represents the
 * video best. Returns undefined if there is no picture.
 */
export async function scanFrames(work: FrameScan): Promise<number | undefined> {
  const { plan, scratch, tools, limits, signal } = work
  const storyboard = planStoryboard(plan)
  const rendition = selectRendition(plan)
  if (!storyboard || !rendition || !plan.video) return undefined
  const images = await imageWork(work, storyboard, rendition)
  await runSandboxed({
    tool: tools.ffmpeg,
    args: ffmpegArguments(images),
    scratch,
    writes: [outputFolder],
    limits: { cpuSeconds: 600, wallSeconds: 1800, fileBytes: 64 * 2 ** 20, ...limits },
    onLine: progressLines(() => {}),
    signal,
  })
  await writeFile(join(scratch, setFolder, setLayout.storyboard), storyboardVtt(storyboard, plan.durationSeconds), { mode: 0o644 })
  const best = bestPicture({ ...storyboard.tile, pictures: await readGrey(scratch, storyboard) })
  return best * storyboard.groupsPerTile * plan.video.groupFrames
}

const greyFile = `${outputFolder}/grey.raw`

/**
 * Returns the smallest rendition whose shorter side has at least 180 pixels, twice that of a tile,
 * else the last one. Renditions whose key frames are cheap to decode are preferred.
 */
function selectRendition({ renditions }: EncodePlan): PlannedRendition | undefined {
  const pictures = renditions
    .filter(({ video }) => video !== undefined)
    .sort((a, b) => Number(canDecodeKeyFramesAlone(b)) - Number(canDecodeKeyFramesAlone(a)))
  return pictures.find(({ video }) => video && Math.min(video.width, video.height) >= 180) ?? pictures.at(-1)
}

async function imageWork(
  { plan, segments, scratch }: FrameScan,
  storyboard: StoryboardPlan,
  rendition: PlannedRendition,
): Promise<ImageWork> {
  const allSegments = segments.get(rendition.key) ?? []
  const { groupsPerTile } = storyboard
  const storyboardSegments = groupsPerTile === 1 ? allSegments : allSegments.filter((_, index) => index % (groupsPerTile / 2) === 0)
  const previewedSegments = previewSegments(allSegments.length).flatMap((index) => allSegments[index] ?? [])
  return {
    inputs: [
      segmentInput(await joinSegments(scratch, rendition.key, storyboardSegments, 'storyboard'), ['-skip_frame', 'nokey']),
      segmentInput(await joinSegments(scratch, rendition.key, previewedSegments, 'preview')),
    ],
    graphs: [storyboardGraph(storyboard), previewGraph(plan, rendition, 1, previewedSegments.length, '[preview]')],
    outputs: [
      ...storyboard.sprites.map((key, index) => jpegOutput(key, `[s${index}]`, 5)),
      { file: greyFile, options: ['-map', '[grey]', '-c:v', 'rawvideo', '-f', 'rawvideo'] },
      previewOutput('[preview]'),
    ],
  }
}

/**
 * Returns the filter graph. A segment has two groups. If tiles are more than one group apart, the
 * key frame of the second group is dropped.
 */
function storyboardGraph({ tile, columns, rows, groupsPerTile, sprites }: StoryboardPlan): string {
  const perSprite = columns * rows
  const parts = sprites.map((_, index) => `[t${index}]`).join('')
  const begin = groupsPerTile === 1 ? 'select=key,' : 'select=key,select=not(mod(n\\,2)),'
  const sheets = sprites.map(
    (_, index) => `[t${index}]select=between(n\\,${index * perSprite}\\,${(index + 1) * perSprite - 1}),tile=${columns}x${rows}[s${index}]`,
  )
  // `setpts` numbers the pictures at a constant rate, because the gaps between their times do not
  // matter here.
  const chain = `[0:v:0]${begin}setpts=N/25/TB,fps=25,${toJpegSize(tile)},split=${sprites.length + 1}${parts}[t]`
  return [chain, '[t]format=gray[grey]', ...sheets].join(';')
}

async function readGrey(scratch: string, { tile, tiles }: StoryboardPlan): Promise<Uint8Array[]> {
  const size = tile.width * tile.height
  // Pictures beyond the number of tiles are ignored.
  const bytes = await withOutput(scratch, greyFile, (file) =>
    readOutput({ ...file, bytes: Math.min(file.bytes, tiles * size) }, tiles * size),
  )
  return Array.from({ length: Math.min(tiles, Math.floor(bytes.length / size)) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
}
