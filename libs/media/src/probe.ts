import { stat } from 'node:fs/promises'
import { audioCodecs, inputGuards, videoCodecs } from './codecs.ts'
import { type ProbedFile, type ProbedStream, readProbedFile } from './ffprobe-json.ts'
import type { FfmpegTools } from './find-ffmpeg.ts'
import { toNumber, toRational } from './frame-rate.ts'
import { measureCopy } from './measure-copy.ts'
import { latestEnd, measureEnds, type StreamEnds } from './measure-ends.ts'
import { measureKeys } from './measure-keys.ts'
import { InvalidSource, isEncodeError } from './media-errors.ts'
import { minSoundSeconds } from './plan-audio.ts'
import { type FfprobeRun, ffprobeText } from './run-ffprobe.ts'
import { type RunLimits, sandboxFor } from './sandbox.ts'
import { linkSource, sourceName } from './scratch.ts'
import { type Container, sniffContainer } from './sniff.ts'
import {
  defaultSourceLimits,
  type Rational,
  type SourceAudio,
  type SourceLimits,
  type SourceProbe,
  type SourceVideo,
} from './source-probe.ts'
import { canTimeJump, measureJoinedEnds } from './time-jumps.ts'

export interface ProbeOptions {
  /** A local file. Its name is never passed to a tool. */
  source: string
  scratch: string
  tools: FfmpegTools
  limits?: Partial<SourceLimits> | undefined
  runLimits?: Partial<RunLimits> | undefined
  signal?: AbortSignal | undefined
}

/**
 * Probes a source. Throws `InvalidSource` with 4002 if it is not video or sound, and 4003 if it is
 * too large or too long.
 */
export async function probeSource(options: ProbeOptions): Promise<SourceProbe> {
  const limits = { ...defaultSourceLimits, ...options.limits }
  const container = await sniffContainer(options.source)
  await linkSource(options.source, options.scratch, await sandboxFor(options.tools.ffprobe))
  const guards = inputGuards(container.demuxer, limits.maxPixels, 'ffprobe')
  const run = { tools: options.tools, scratch: options.scratch, limits: options.runLimits, signal: options.signal }
  const { file, tooLarge } = await runFfprobe(run, guards)
  if (tooLarge) throw pictureTooLarge()
  const { video, audio } = chooseStreams(file, limits)
  const streams = video ? [video, ...audio] : audio
  const ends = await measureStreamEnds({ run, guards, container, file, streams, limits })
  const probe = describe(container, file, video, audio, ends, limits)
  checkBitrate(probe.durationSeconds, (await stat(options.source)).size)
  if (!video || !probe.video) return probe
  const keySeconds = await measureKeys({ run, guards, container: container.name, file, video, endSeconds: probe.video.endSeconds })
  const copy = await measureCopy({ run, maxPixels: limits.maxPixels, file, stream: video, probe })
  return { ...probe, video: { ...probe.video, ...(keySeconds === undefined ? {} : { keySeconds }), ...(copy && { copy }) } }
}

interface SourceEnds {
  run: Omit<FfprobeRun, 'args'>
  guards: readonly string[]
  container: Container
  file: ProbedFile
  streams: readonly ProbedStream[]
  limits: SourceLimits
}

/** Returns the ends of the streams. The duration of the container is ignored if time may jump. */
async function measureStreamEnds({ run, guards, container, file, streams, limits }: SourceEnds): Promise<StreamEnds> {
  const { name, demuxer } = container
  const joined = canTimeJump(demuxer)
    ? await measureJoinedEnds({ run, demuxer, maxPixels: limits.maxPixels, streams: streams.map(({ index }) => index) })
    : undefined
  if (joined) return joined
  checkDuration(file.durationSeconds, limits)
  return measureEnds({ run, guards, file, streams, hasDurationInHeader: name === 'mp4' || name === 'matroska' })
}

/**
 * Runs ffprobe and returns its output. Its failure is a fault of the file, unless a signal, a limit
 * or the caller ended it.
 */
async function runFfprobe(run: Omit<FfprobeRun, 'args'>, guards: readonly string[]): Promise<{ file: ProbedFile; tooLarge: boolean }> {
  try {
    const { text, end } = await ffprobeText({
      ...run,
      args: [...guards, '-of', 'json', '-show_format', '-show_streams', `file:${sourceName}`],
    })
    const file = readProbedFile(text)
    if (file) return { file, tooLarge: TOO_MANY_PIXELS.test(end.stderr) }
  } catch (error) {
    if (!isEncodeError(error) || error.kind !== 'crashed' || !error.message.startsWith('exit code')) throw error
    if (TOO_MANY_PIXELS.test(error.detail)) throw pictureTooLarge(error)
    const codec = /Codec \((\w+)\) not on whitelist/.exec(error.detail)?.[1]
    throw codec === undefined ? damagedFile(error) : unknownCodec({ type: 'one stream', codec }, error)
  }
  throw damagedFile()
}

const TOO_MANY_PIXELS = /exceeds specified max pixel count/

function damagedFile(cause?: unknown): InvalidSource {
  return new InvalidSource(4002, 'the file is damaged or truncated: it cannot be read as a video', cause)
}

function chooseStreams(file: ProbedFile, limits: SourceLimits): { video: ProbedStream | undefined; audio: ProbedStream[] } {
  if (file.streams.length > limits.maxStreams) {
    throw new InvalidSource(4003, `the file has ${file.streams.length} streams; at most ${limits.maxStreams} are accepted`)
  }
  const pictures = file.streams.filter((stream) => stream.type === 'video' && !stream.isPicture)
  const sounds = file.streams.filter((stream) => stream.type === 'audio')
  const video = pictures.find((stream) => stream.isDefault) ?? pictures[0]
  if (video && !videoCodecs.has(video.codec)) throw unknownCodec(video)
  if (video && (video.width <= 0 || video.height <= 0)) {
    throw new InvalidSource(4002, 'the file is damaged: its picture cannot be read')
  }
  if (video && video.width * video.height > limits.maxPixels) throw pictureTooLarge()
  const audio = sounds.filter((stream) => audioCodecs.has(stream.codec) && stream.channels > 0 && stream.sampleRate > 0)
  if (!video && audio.length === 0) {
    const unknown = sounds[0]
    throw unknown ? unknownCodec(unknown) : new InvalidSource(4002, 'the file has neither picture nor sound')
  }
  return { video, audio }
}

/**
 * Returns the error for an unsupported codec. Codec names are constants of ffprobe, never text from
 * the file.
 */
function unknownCodec(stream: Pick<ProbedStream, 'type' | 'codec'>, cause?: unknown): InvalidSource {
  const name = /^[a-z0-9_]{1,32}$/.test(stream.codec) ? stream.codec : 'unknown'
  const subject = stream.type === 'video' ? 'the picture' : stream.type === 'audio' ? 'the sound' : stream.type
  return new InvalidSource(4002, `${subject} has an unsupported format (${name})`, cause)
}

function pictureTooLarge(cause?: unknown): InvalidSource {
  return new InvalidSource(4003, 'the picture is too large: at most 35,389,440 pixels are accepted, as in 8192x4320', cause)
}

function checkDuration(seconds: number | undefined, limits: SourceLimits): void {
  if (seconds !== undefined && seconds > limits.maxSeconds) {
    throw new InvalidSource(4003, `the video is too long: at most ${limits.maxSeconds / 3600} hours are accepted`)
  }
}

/**
 * Minimum bit rate in bit/s. One broken time stamp can turn a second into hours. Even a static
 * screen has a higher bit rate.
 */
const MIN_BITRATE = 64

function checkBitrate(seconds: number, bytes: number): void {
  if (bytes * 8 >= seconds * MIN_BITRATE) return
  throw new InvalidSource(4002, `the file is damaged: ${bytes} bytes cannot be a video of ${Math.round(seconds)} s`)
}

function describe(
  container: Container,
  file: ProbedFile,
  video: ProbedStream | undefined,
  audio: readonly ProbedStream[],
  ends: StreamEnds,
  limits: SourceLimits,
): SourceProbe {
  const durationSeconds = latestEnd(ends)
  checkDuration(durationSeconds, limits)
  if (durationSeconds <= 0) throw new InvalidSource(4002, 'the file contains no picture and no sound')
  const isShort = durationSeconds < minSoundSeconds && !(video && ends.has(video.index))
  if (isShort) throw new InvalidSource(4002, `the sound is too short: at least ${minSoundSeconds * 1000} ms are accepted`)
  const picture = video && ends.has(video.index) ? toVideo(video, ends.get(video.index) ?? 0, limits) : undefined
  return {
    container: container.name,
    demuxer: container.demuxer,
    durationSeconds,
    bitrate: file.bitrate,
    streams: file.streams.length,
    ...(picture ? { video: picture } : {}),
    audio: audio.filter((stream) => ends.has(stream.index)).map((stream) => toAudio(stream, ends.get(stream.index) ?? 0)),
  }
}

function toVideo(stream: ProbedStream, endSeconds: number, limits: SourceLimits): SourceVideo {
  const average = toRational(stream.averageFrameRate)
  const real = toRational(stream.realFrameRate)
  const frameRate = selectFrameRate(average, real)
  const rate = toNumber(frameRate)
  if (rate > limits.maxFrameRate) {
    throw new InvalidSource(4003, `the video has ${Math.round(rate)} frames per second; at most ${limits.maxFrameRate} are accepted`)
  }
  const interlaced = ['tt', 'bb', 'tb', 'bt'].includes(stream.fieldOrder)
  const realRate = real ? toNumber(real) : rate
  const rotation = (((Math.round(-stream.rotation / 90) * 90) % 360) + 360) % 360
  return {
    index: stream.index,
    codec: stream.codec,
    ...displaySize(stream, rotation),
    rotation,
    frameRate,
    variableRate: !interlaced && Math.abs(realRate / rate - 1) > MAX_RATE_DEVIATION,
    pixelFormat: stream.pixelFormat,
    bitDepth: readBitDepth(stream),
    interlaced,
    fullRange: stream.range === 'pc' || stream.pixelFormat.startsWith('yuvj') || /^(gbr|rgb|bgr|0rgb|argb|abgr)/.test(stream.pixelFormat),
    transfer: stream.transfer,
    declaresColours: [stream.matrix, stream.primaries].every((name) => !['', 'unknown', 'unspecified', 'reserved'].includes(name)),
    endSeconds,
  }
}

/**
 * Returns the frame rate. The average is inaccurate for short files. If all frames have the
 * distance that the real rate implies, the real rate is exact.
 */
function selectFrameRate(average: Rational | undefined, real: Rational | undefined): Rational {
  const difference = average && real ? Math.abs(toNumber(real) / toNumber(average) - 1) : 0
  // The rates 24 and 23.976 differ by less than 0.0015, so only the average distinguishes them.
  const isAverageInaccurate = difference > 0.0015 && difference <= MAX_RATE_DEVIATION
  return (isAverageInaccurate ? real : average) ?? real ?? { numerator: 25, denominator: 1 }
}

/**
 * If the average and the real frame rate differ by more than this fraction, the frame rate is
 * variable.
 */
const MAX_RATE_DEVIATION = 0.01

function displaySize(stream: ProbedStream, rotation: number): { width: number; height: number } {
  const aspect = toRational(stream.sampleAspectRatio.replace(':', '/'))
  const ratio = aspect ? aspect.numerator / aspect.denominator : 1
  // A ratio outside of 1:20 to 20:1 is an error in the file.
  const width = Math.max(1, Math.round(stream.width * (ratio >= 0.05 && ratio <= 20 ? ratio : 1)))
  return rotation % 180 === 0 ? { width, height: stream.height } : { width: stream.height, height: width }
}

function readBitDepth(stream: ProbedStream): number {
  const depthInName = /p(9|10|12|14|16)(le|be)?$/.exec(stream.pixelFormat)?.[1]
  return depthInName === undefined ? stream.bitsPerRawSample || 8 : Number(depthInName)
}

function toAudio(stream: ProbedStream, endSeconds: number): SourceAudio {
  const { index, codec, channels, sampleRate, isDefault } = stream
  const language = /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/.test(stream.language) ? stream.language : ''
  return { index, codec, channels, sampleRate, language, title: cleanTitle(stream.title), isDefault, endSeconds }
}

/** Returns a title that is safe in a playlist: one line without double quotes. */
function cleanTitle(title: string): string {
  return title
    .replace(/["\p{C}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim()
    .slice(0, 80)
    .toWellFormed()
}
