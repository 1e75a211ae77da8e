import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codecName } from './codec-name.ts'
import { collectSegments, type SegmentsByKey } from './collect-segments.ts'
import { segmentNames } from './encode-command.ts'
import { type FfmpegOutput, ffmpegArguments } from './ffmpeg-arguments.ts'
import type { FfmpegTools } from './find-ffmpeg.ts'
import { mediaPlaylist } from './hls-playlist.ts'
import { imagesFromRendition } from './image-frames.ts'
import { lockedRun } from './locked-run.ts'
import { type LookThrough, lookThrough } from './look-through.ts'
import { EncodeFailed } from './media-errors.ts'
import type { EncodePlan } from './plan.ts'
import { planMaster, trackKeys } from './plan-master.ts'
import { playlistInput } from './playlist-input.ts'
import { progressLines } from './progress.ts'
import { type RunLimits, sandboxFor } from './sandbox.ts'
import { type ImageWork, imageWorkFolder } from './segment-file.ts'
import { setFolder, setLayout } from './set-layout.ts'
import { imagesOfSound } from './sound-images.ts'
import { makeFolderFor } from './tool-user.ts'

export interface Packaging {
  plan: EncodePlan
  scratch: string
  tools: FfmpegTools
  limits?: Partial<RunLimits> | undefined
  signal?: AbortSignal | undefined
}

/**
 * Makes the finished set out of the segments of all chunks: HLS playlists, a progressive MP4 of each rendition from the same encoded frames,
 * the sound as a file of its own, and the images. Returns the folder of the set.
 */
export async function packageRenditions({ plan, scratch, tools, limits, signal }: Packaging): Promise<string> {
  const sandbox = await sandboxFor(tools.ffmpeg)
  const set = join(scratch, setFolder)
  await rm(set, { recursive: true, force: true })
  await makeFolderFor(sandbox, set)
  await makeFolderFor(sandbox, join(set, setLayout.hlsFolder))
  await makeFolderFor(sandbox, join(set, setLayout.imageFolder))
  await rm(join(scratch, imageWorkFolder), { recursive: true, force: true })
  await makeFolderFor(sandbox, join(scratch, imageWorkFolder))
  const segments = await collectSegments(plan, scratch, join(setFolder, setLayout.hlsFolder), sandbox)
  await writePlaylists(plan, set, segments)
  const bytes = [...segments.values()].flat().reduce((sum, segment) => sum + segment.bytes, 0)
  const images = await imageWork({ plan, segments, scratch, tools, limits, signal })
  await lockedRun({
    tool: tools.ffmpeg,
    args: packageArguments(plan, [...segments.keys()], images),
    scratch,
    // Moving `moov` to the front copies each file without a report of progress; 10 MB/s is slow even for a network disk.
    limits: { stallSeconds: 30 + bytes / 10e6, fileBytes: bytes * 2 + 32 * 2 ** 20, ...limits },
    onLine: progressLines(() => {}),
    signal,
  })
  return set
}

function packageArguments(plan: EncodePlan, keys: readonly string[], images: ImageWork): string[] {
  const copies = plan.renditions.map((rendition) => mp4Output(setLayout.mp4(rendition.key), trackKeys(plan, rendition.key), keys))
  const sound = soundKey(plan)
  return ffmpegArguments({
    inputs: [...keys.map(playlistInput), ...images.inputs],
    graphs: images.graphs,
    outputs: [...copies, ...(sound === undefined ? [] : [mp4Output(setLayout.sound, [sound], keys)]), ...images.outputs],
  })
}

/** The number of inputs before those of the images is that of the tracks. */
async function imageWork(work: LookThrough): Promise<ImageWork> {
  const { plan, segments, scratch } = work
  if (plan.images.length === 0) return { inputs: [], graphs: [], outputs: [] }
  const largest = plan.renditions.filter((rendition) => rendition.video !== undefined).at(-1)
  const bestFrame = await lookThrough(work)
  if (!largest || bestFrame === undefined) return imagesOfSound(work, segments.size)
  return imagesFromRendition({ plan, rendition: largest, segments: segments.get(largest.key) ?? [], scratch, bestFrame }, segments.size)
}

/** The track that is offered as a file of its own: the best one. None beside a set that has one already, as it has images. */
export function soundKey({ audio, images }: EncodePlan): string | undefined {
  return images.length === 0 ? undefined : audio?.tracks.findLast(({ sound }) => sound === 0)?.key
}

function mp4Output(path: string, tracks: readonly string[], inputs: readonly string[]): FfmpegOutput {
  const options = [
    ...tracks.map((key) => ['-map', `${inputs.indexOf(key)}:0`]),
    ['-c', 'copy'],
    ['-movflags', '+faststart'],
    ['-map_metadata', '-1'],
    ['-fflags', '+bitexact'],
    ['-f', 'mp4'],
  ]
  return { file: `${setFolder}/${path}`, options: options.flat() }
}

async function writePlaylists(plan: EncodePlan, set: string, segments: SegmentsByKey): Promise<void> {
  const codecs = new Map<string, string>()
  for (const [key, list] of segments) {
    const codec = codecName(await readFile(join(set, setLayout.hlsFolder, key, segmentNames.init)))
    if (codec === undefined) throw new EncodeFailed('incomplete', `${key} has no known codec`)
    codecs.set(key, codec)
    await writeFile(join(set, setLayout.playlist(key)), mediaPlaylist(segmentNames.init, list), { mode: 0o644 })
  }
  await writeFile(
    join(set, setLayout.master),
    planMaster(plan, (key) => ({ segments: segments.get(key) ?? [], codec: codecs.get(key) ?? '' })),
    { mode: 0o644 },
  )
}
