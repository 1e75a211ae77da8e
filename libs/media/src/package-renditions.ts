import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { codecName } from './codec-name.ts'
import { collectSegments, type SegmentsByKey } from './collect-segments.ts'
import { segmentNames } from './encode-command.ts'
import { type FfmpegOutput, ffmpegArguments } from './ffmpeg-arguments.ts'
import type { FfmpegTools } from './find-ffmpeg.ts'
import { mediaPlaylist } from './hls-playlist.ts'
import { imagesFromRendition } from './image-frames.ts'
import { EncodeError } from './media-errors.ts'
import type { EncodePlan } from './plan.ts'
import { planMaster, trackKeys } from './plan-master.ts'
import { playlistInput } from './playlist-input.ts'
import { progressLines } from './progress.ts'
import type { RunLimits } from './sandbox.ts'
import { runSandboxed } from './sandboxed-process.ts'
import { type FrameScan, scanFrames } from './scan-frames.ts'
import { type ImageWork, imageWorkFolder } from './segment-file.ts'
import { outputFile, outputFolder, setFolder, setLayout } from './set-layout.ts'
import { buildWaveformImages } from './sound-images.ts'
import { planStoryboard } from './storyboard.ts'
import { linkOutput, openOutputFolder, useOutput } from './tool-output.ts'

export interface Packaging {
  plan: EncodePlan
  scratch: string
  tools: FfmpegTools
  limits?: Partial<RunLimits> | undefined
  signal?: AbortSignal | undefined
}

/**
 * Creates the finished set from the segments of all chunks: HLS playlists, a progressive MP4 of
 * each rendition from the same encoded frames, an audio-only file, and the images. Returns the
 * folder of the set.
 */
export async function packageRenditions({ plan, scratch, tools, limits, signal }: Packaging): Promise<string> {
  const set = join(scratch, setFolder)
  for (const folder of [setFolder, imageWorkFolder, outputFolder]) await rm(join(scratch, folder), { recursive: true, force: true })
  for (const folder of [join(set, setLayout.hlsFolder), join(set, setLayout.imageFolder), join(scratch, imageWorkFolder)]) {
    await mkdir(folder, { recursive: true })
  }
  const segments = await collectSegments(plan, scratch, join(setFolder, setLayout.hlsFolder))
  await writePlaylists(plan, set, segments)
  const bytes = [...segments.values()].flat().reduce((sum, segment) => sum + segment.bytes, 0)
  const images = await imageWork({ plan, segments, scratch, tools, limits, signal })
  await runSandboxed({
    tool: tools.ffmpeg,
    args: packageArguments(plan, [...segments.keys()], images),
    scratch,
    writes: [outputFolder],
    // Moving `moov` to the front copies each file without progress reports. 10 MB/s is slow even
    // for a network disk.
    limits: { stallSeconds: 30 + bytes / 10e6, fileBytes: bytes * 2 + 32 * 2 ** 20, ...limits },
    onLine: progressLines(() => {}),
    signal,
  })
  await linkOutputs(plan, scratch)
  return set
}

/** Links the files that the runs wrote into the set. */
async function linkOutputs(plan: EncodePlan, scratch: string): Promise<void> {
  const storyboard = planStoryboard(plan)
  const images = [...plan.images.map(({ key }) => key), ...(storyboard?.sprites ?? [])]
  const paths = [
    ...plan.renditions.map(({ key }) => setLayout.mp4(key)),
    ...(soundKey(plan) === undefined ? [] : [setLayout.sound]),
    ...images.map((key) => setLayout.image(key)),
    ...(storyboard ? [setLayout.preview] : []),
  ]
  const output = await openOutputFolder(scratch, outputFolder)
  try {
    for (const path of paths) await useOutput(output, basename(path), (file) => linkOutput(file, join(scratch, setFolder, path)))
  } finally {
    await output.close()
  }
}

function packageArguments(plan: EncodePlan, keys: readonly string[], images: ImageWork): string[] {
  const mp4Outputs = plan.renditions.map((rendition) => mp4Output(setLayout.mp4(rendition.key), trackKeys(plan, rendition.key), keys))
  const sound = soundKey(plan)
  return ffmpegArguments({
    inputs: [...keys.map(playlistInput), ...images.inputs],
    graphs: images.graphs,
    outputs: [...mp4Outputs, ...(sound === undefined ? [] : [mp4Output(setLayout.sound, [sound], keys)]), ...images.outputs],
  })
}

/**
 * Returns the command parts that create the images. The tracks are the inputs before those of the
 * images.
 */
async function imageWork(work: FrameScan): Promise<ImageWork> {
  const { plan, segments, scratch } = work
  if (plan.images.length === 0) return { inputs: [], graphs: [], outputs: [] }
  const largest = plan.renditions.filter((rendition) => rendition.video !== undefined).at(-1)
  const bestFrame = await scanFrames(work)
  if (!largest || bestFrame === undefined) return buildWaveformImages(work, segments.size)
  return imagesFromRendition({ plan, rendition: largest, segments: segments.get(largest.key) ?? [], scratch, bestFrame }, segments.size)
}

/**
 * Returns the key of the audio track for the audio-only file: the default sound at the highest
 * bitrate. Returns undefined for a plan without images, because its rendition is added to a set
 * that already has images and an audio-only file.
 */
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
  return { file: outputFile(path), options: options.flat() }
}

async function writePlaylists(plan: EncodePlan, set: string, segments: SegmentsByKey): Promise<void> {
  const codecs = new Map<string, string>()
  for (const [key, list] of segments) {
    const codec = codecName(await readFile(join(set, setLayout.hlsFolder, key, segmentNames.init)))
    if (codec === undefined) throw new EncodeError('incomplete', `${key} has no known codec`)
    codecs.set(key, codec)
    await writeFile(join(set, setLayout.playlist(key)), mediaPlaylist(segmentNames.init, list), { mode: 0o644 })
  }
  await writeFile(
    join(set, setLayout.master),
    planMaster(plan, (key) => ({ segments: segments.get(key) ?? [], codec: codecs.get(key) ?? '' })),
    { mode: 0o644 },
  )
}
