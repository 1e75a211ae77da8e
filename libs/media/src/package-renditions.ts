import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { codecName } from './codec-name.ts'
import { collectSegments, type SegmentsByKey } from './collect-segments.ts'
import { segmentNames } from './encode-command.ts'
import { type FfmpegInput, type FfmpegOutput, ffmpegArguments } from './ffmpeg-arguments.ts'
import type { FfmpegTools } from './find-ffmpeg.ts'
import { toNumber } from './frame-rate.ts'
import { type AudioTrack, masterPlaylist, mediaPlaylist, type Variant } from './hls-playlist.ts'
import { type ImageWork, imagesFromRendition, plainImages } from './image-frames.ts'
import { lockedRun } from './locked-run.ts'
import { EncodeFailed } from './media-errors.ts'
import type { EncodePlan } from './plan.ts'
import { progressLines } from './progress.ts'
import { makeFolderFor, type RunLimits, type Sandbox, sandboxFor } from './sandbox.ts'
import { setFolder, setLayout } from './set-layout.ts'

export interface Packaging {
  plan: EncodePlan
  scratch: string
  tools: FfmpegTools
  limits?: Partial<RunLimits> | undefined
  signal?: AbortSignal | undefined
}

/**
 * Makes the finished set out of the segments of all chunks: HLS playlists, a progressive MP4 of each rendition from the same encoded frames,
 * and the images. Returns the folder of the set.
 */
export async function packageRenditions({ plan, scratch, tools, limits, signal }: Packaging): Promise<string> {
  const sandbox = await sandboxFor(tools.ffmpeg)
  const set = join(scratch, setFolder)
  await rm(set, { recursive: true, force: true })
  await makeFolderFor(sandbox, set)
  await makeFolderFor(sandbox, join(set, setLayout.hlsFolder))
  await makeFolderFor(sandbox, join(set, setLayout.imageFolder))
  const segments = await collectSegments(plan, scratch, join(setFolder, setLayout.hlsFolder), sandbox)
  await writePlaylists(plan, set, segments)
  const bytes = [...segments.values()].flat().reduce((sum, segment) => sum + segment.bytes, 0)
  await lockedRun({
    tool: tools.ffmpeg,
    args: await packageArguments(plan, segments, scratch, sandbox),
    scratch,
    // Moving `moov` to the front copies each file without a report of progress; 10 MB/s is slow even for a network disk.
    limits: { stallSeconds: 30 + bytes / 10e6, fileBytes: bytes * 2 + 32 * 2 ** 20, ...limits },
    onLine: progressLines(() => {}),
    signal,
  })
  return set
}

async function packageArguments(plan: EncodePlan, segments: SegmentsByKey, scratch: string, sandbox: Sandbox): Promise<string[]> {
  const keys = [...segments.keys()]
  const copies = plan.renditions.map((rendition) => mp4Output(rendition.key, trackKeys(plan, rendition.key), keys))
  const images = await imageWork(plan, segments, scratch, sandbox, keys.length)
  return ffmpegArguments({
    inputs: [...keys.map(playlistInput), ...images.inputs],
    graphs: images.graphs,
    outputs: [...copies, ...images.outputs],
  })
}

function imageWork(plan: EncodePlan, segments: SegmentsByKey, scratch: string, sandbox: Sandbox, firstInput: number): Promise<ImageWork> {
  const largest = plan.renditions.filter((rendition) => rendition.video !== undefined).at(-1)
  if (!largest) return plainImages(plan, scratch, sandbox, firstInput)
  return imagesFromRendition(plan, largest, segments.get(largest.key) ?? [], scratch, sandbox, firstInput)
}

/** The keys of the tracks that make up a rendition: its picture, its sound, or both. */
export function trackKeys(plan: EncodePlan, renditionKey: string): string[] {
  const rendition = plan.renditions.find(({ key }) => key === renditionKey)
  if (!rendition) return []
  return [...(rendition.video ? [rendition.key] : []), ...(rendition.audioKey === undefined ? [] : [rendition.audioKey])]
}

function playlistInput(key: string): FfmpegInput {
  const options = ['-f', 'hls', '-format_whitelist', 'hls,mov', '-protocol_whitelist', 'file']
  return { file: `${setFolder}/${setLayout.playlist(key)}`, options }
}

function mp4Output(renditionKey: string, tracks: readonly string[], inputs: readonly string[]): FfmpegOutput {
  const options = [
    ...tracks.map((key) => ['-map', `${inputs.indexOf(key)}:0`]),
    ['-c', 'copy'],
    ['-movflags', '+faststart'],
    ['-map_metadata', '-1'],
    ['-fflags', '+bitexact'],
    ['-f', 'mp4'],
  ]
  return { file: `${setFolder}/${setLayout.mp4(renditionKey)}`, options: options.flat() }
}

async function writePlaylists(plan: EncodePlan, set: string, segments: SegmentsByKey): Promise<void> {
  const codecs = new Map<string, string>()
  for (const [key, list] of segments) {
    const codec = codecName(await readFile(join(set, setLayout.hlsFolder, key, segmentNames.init)))
    if (codec === undefined) throw new EncodeFailed('incomplete', `${key} has no known codec`)
    codecs.set(key, codec)
    await writeFile(join(set, setLayout.playlist(key)), mediaPlaylist(segmentNames.init, list), { mode: 0o644 })
  }
  await writeFile(join(set, setLayout.master), masterPlaylist(variantsOf(plan, segments, codecs)), { mode: 0o644 })
}

function variantsOf(plan: EncodePlan, segments: SegmentsByKey, codecs: ReadonlyMap<string, string>): Variant[] {
  const variant = (key: string, tracks: readonly string[]): Variant => ({
    uri: `${key}/${segmentNames.list}`,
    segments: segments.get(key) ?? [],
    codecs: tracks.map((track) => codecs.get(track) ?? ''),
  })
  if (!plan.video) return (plan.audio?.tracks ?? []).map(({ key }) => variant(key, [key]))
  const framesPerSecond = toNumber(plan.video.frameRate)
  return plan.renditions.map(({ key, video, audioKey }) => {
    const audio = audioKey === undefined ? undefined : audioTrack(plan, audioKey, segments)
    return {
      ...variant(key, trackKeys(plan, key)),
      ...(video ? { picture: { width: video.width, height: video.height, framesPerSecond } } : {}),
      ...(audio ? { audio } : {}),
    }
  })
}

function audioTrack(plan: EncodePlan, key: string, segments: SegmentsByKey): AudioTrack {
  return { key, uri: `${key}/${segmentNames.list}`, language: plan.audio?.language ?? '', segments: segments.get(key) ?? [] }
}
