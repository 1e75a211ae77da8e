import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bestPicture } from './best-frame.ts'
import { ffmpegArguments } from './ffmpeg-arguments.ts'
import type { FfmpegTools } from './find-ffmpeg.ts'
import type { Segment } from './hls-playlist.ts'
import { lockedRun } from './locked-run.ts'
import type { EncodePlan, PlannedRendition } from './plan.ts'
import { previewGraph, previewOutput, previewSegments } from './preview.ts'
import { progressLines } from './progress.ts'
import type { RunLimits } from './sandbox.ts'
import { type ImageWork, imageWorkFolder, joinSegments, jpegOutput, keysDecodeAlone, segmentInput, toJpegSize } from './segment-file.ts'
import { setFolder, setLayout } from './set-layout.ts'
import { planStoryboard, type StoryboardPlan, storyboardVtt } from './storyboard.ts'

export interface LookThrough {
  plan: EncodePlan
  segments: ReadonlyMap<string, readonly Segment[]>
  scratch: string
  tools: FfmpegTools
  limits?: Partial<RunLimits> | undefined
  signal?: AbortSignal | undefined
}

/**
 * Goes through a small rendition by a hundred key frames at most, whatever its length: makes the storyboard and the animated preview, and answers the
 * number of the frame that stands best for the video. Undefined where there is no picture.
 */
export async function lookThrough(work: LookThrough): Promise<number | undefined> {
  const { plan, scratch, tools, limits, signal } = work
  const storyboard = planStoryboard(plan)
  const rendition = lookedAt(plan)
  if (!storyboard || !rendition || !plan.video) return undefined
  const images = await imageWork(work, storyboard, rendition)
  await lockedRun({
    tool: tools.ffmpeg,
    args: ffmpegArguments(images),
    scratch,
    limits: { cpuSeconds: 600, wallSeconds: 1800, fileBytes: 64 * 2 ** 20, ...limits },
    onLine: progressLines(() => {}),
    signal,
  })
  await writeFile(join(scratch, setFolder, setLayout.storyboard), storyboardVtt(storyboard, plan.durationSeconds), { mode: 0o644 })
  const chosen = bestPicture({ ...storyboard.tile, pictures: await readGrey(join(scratch, greyFile), storyboard) })
  return chosen * storyboard.everyGroups * plan.video.groupFrames
}

const greyFile = `${imageWorkFolder}/grey.raw`

/** The smallest whose pictures need not be enlarged. */
function lookedAt({ renditions }: EncodePlan): PlannedRendition | undefined {
  const pictures = renditions
    .filter(({ video }) => video !== undefined)
    .sort((a, b) => Number(keysDecodeAlone(b)) - Number(keysDecodeAlone(a)))
  return pictures.find(({ video }) => video && Math.min(video.width, video.height) >= 180) ?? pictures.at(-1)
}

async function imageWork(
  { plan, segments, scratch }: LookThrough,
  storyboard: StoryboardPlan,
  rendition: PlannedRendition,
): Promise<ImageWork> {
  const all = segments.get(rendition.key) ?? []
  const { everyGroups } = storyboard
  const shown = everyGroups === 1 ? all : all.filter((_, place) => place % (everyGroups / 2) === 0)
  const previewed = previewSegments(all.length).flatMap((place) => all[place] ?? [])
  return {
    inputs: [
      segmentInput(await joinSegments(scratch, rendition.key, shown, 'storyboard'), ['-skip_frame', 'nokey']),
      segmentInput(await joinSegments(scratch, rendition.key, previewed, 'preview')),
    ],
    graphs: [storyboardGraph(storyboard), previewGraph(plan, rendition, 1, previewed.length, '[preview]')],
    outputs: [
      ...storyboard.sprites.map((key, index) => jpegOutput(key, `[s${index}]`, 5)),
      { file: greyFile, options: ['-map', '[grey]', '-c:v', 'rawvideo', '-f', 'rawvideo'] },
      previewOutput('[preview]'),
    ],
  }
}

/** Of a segment of two groups, the second one's key frame is left out where tiles are further apart than a group. */
function storyboardGraph({ tile, columns, rows, everyGroups, sprites }: StoryboardPlan): string {
  const perSprite = columns * rows
  const parts = sprites.map((_, index) => `[t${index}]`).join('')
  const begin = everyGroups === 1 ? 'select=key,' : 'select=key,select=not(mod(n\\,2)),'
  const sheets = sprites.map(
    (_, index) => `[t${index}]select=between(n\\,${index * perSprite}\\,${(index + 1) * perSprite - 1}),tile=${columns}x${rows}[s${index}]`,
  )
  // One picture after another at an even pace: the jumps of time between them are of no use here.
  const chain = `[0:v:0]${begin}setpts=N/25/TB,fps=25,${toJpegSize(tile)},split=${sprites.length + 1}${parts}[t]`
  return [chain, '[t]format=gray[grey]', ...sheets].join(';')
}

async function readGrey(file: string, { tile, tiles }: StoryboardPlan): Promise<Uint8Array[]> {
  const bytes = await readFile(file)
  const size = tile.width * tile.height
  return Array.from({ length: Math.min(tiles, Math.floor(bytes.length / size)) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
}
