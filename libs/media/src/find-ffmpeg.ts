import { execFile } from 'node:child_process'
import { access, chmod, constants } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type PictureCodec, pictureCodecs, pictureEncoders } from './picture-codec.ts'
import { findX264Asm, type X264Asm } from './pin-x264-asm.ts'
import { canCopyPictures, isSupported, OLDEST_VERSION, warningFor } from './supported-builds.ts'

/** Paths of ffmpeg and ffprobe, and the capabilities of this build. */
export interface FfmpegTools {
  ffmpeg: string
  ffprobe: string
  /** Version from `ffmpeg -version`. Two builds are never combined in one set of renditions. */
  version: string
  /** Version from `ffprobe -version`. */
  ffprobeVersion: string
  /** Whether the picture of a source can be copied into a rendition. See `canCopyPictures`. */
  canCopyPictures: boolean
  /**
   * Whether HDR can be mapped to standard dynamic range, which requires the filters zscale and
   * tonemap.
   */
  toneMap: boolean
  /** Supported codecs for encoding a picture. */
  codecs: readonly PictureCodec[]
  /**
   * Instruction set that libx264 is limited to on this machine, if its own choice is unsuitable.
   */
  x264Asm?: X264Asm
  /**
   * Log message if a tool is old, not tested with this release, or of another build than the other
   * tool.
   */
  warning?: string
}

/** Thrown if no usable ffmpeg was found. The message describes the remedy in one line. */
export class FfmpegNotFound extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'FfmpegNotFound'
  }
}

export interface FfmpegSearch {
  /** Path of ffmpeg from `VITASCOPE_FFMPEG`; ffprobe must be in the same folder. */
  path?: string | undefined
  systemFolders?: readonly string[]
}

const SYSTEM_FOLDERS = ['/usr/local/bin', '/usr/bin', '/bin', '/opt/homebrew/bin']

/**
 * Returns the ffmpeg of `path` if it is set; else that of the system if it is `OLDEST_VERSION` or
 * newer; else that of the npm packages. Throws `FfmpegNotFound`.
 */
export async function findFfmpeg({ path, systemFolders = SYSTEM_FOLDERS }: FfmpegSearch = {}): Promise<FfmpegTools> {
  if (path !== undefined && path !== '') return describeConfigured(path)
  for (const folder of systemFolders) {
    const [ffmpeg, ffprobe] = [join(folder, 'ffmpeg'), join(folder, 'ffprobe')]
    if (!(await isProgram(ffmpeg)) || !(await isProgram(ffprobe))) continue
    const tools = await describe(ffmpeg, ffprobe).catch(() => undefined)
    if (tools && isSupported(tools.version)) return tools
  }
  return describe(await findPackaged('ffmpeg'), await findPackaged('ffprobe'))
}

async function describeConfigured(ffmpeg: string): Promise<FfmpegTools> {
  const ffprobe = join(dirname(ffmpeg), 'ffprobe')
  const advice = `name an ffmpeg ${OLDEST_VERSION} or newer that has ffprobe in the same folder, or unset VITASCOPE_FFMPEG to use the ffmpeg of the system or of npm`
  for (const tool of [ffmpeg, ffprobe]) {
    if (!(await isProgram(tool)))
      throw new FfmpegNotFound(`VITASCOPE_FFMPEG=${ffmpeg}: ${tool} does not exist or is not executable; ${advice}`)
  }
  const tools = await describe(ffmpeg, ffprobe).catch((cause: Error) => {
    throw new FfmpegNotFound(`VITASCOPE_FFMPEG=${ffmpeg} cannot be used (${cause.message.split('\n', 1)[0]}); ${advice}`, cause)
  })
  if (!isSupported(tools.version)) throw new FfmpegNotFound(`VITASCOPE_FFMPEG=${ffmpeg} is ffmpeg ${tools.version}; ${advice}`)
  return tools
}

function isProgram(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}

const run = promisify(execFile)

async function describe(ffmpeg: string, ffprobe: string): Promise<FfmpegTools> {
  const [version, ffprobeVersion, encoders, filters, x264Asm] = await Promise.all([
    readVersion(ffmpeg, 'ffmpeg'),
    readVersion(ffprobe, 'ffprobe'),
    readOutput(ffmpeg, ['-hide_banner', '-encoders']),
    readOutput(ffmpeg, ['-hide_banner', '-filters']),
    findX264Asm(),
  ])
  const has = (encoder: string) => new RegExp(`^ \\S+ ${encoder} `, 'm').test(encoders)
  for (const encoder of [pictureEncoders.h264, 'aac', 'mjpeg']) if (!has(encoder)) throw new Error(`${ffmpeg} has no encoder ${encoder}`)
  const codecs = pictureCodecs.filter((codec) => has(pictureEncoders[codec]))
  const toneMap = / zscale /.test(filters) && / tonemap /.test(filters)
  const warning = warningFor(version, ffprobeVersion)
  return {
    ffmpeg,
    ffprobe,
    version,
    ffprobeVersion,
    canCopyPictures: canCopyPictures(version),
    toneMap,
    codecs,
    ...(x264Asm === undefined ? {} : { x264Asm }),
    ...(warning === undefined ? {} : { warning }),
  }
}

async function readOutput(tool: string, args: string[]): Promise<string> {
  const { stdout } = await run(tool, args, { timeout: 20_000, maxBuffer: 4 << 20, env: {} })
  return stdout
}

async function readVersion(tool: string, name: 'ffmpeg' | 'ffprobe'): Promise<string> {
  const version = new RegExp(`^${name} version (\\S+)`).exec(await readOutput(tool, ['-version']))?.[1]
  if (version === undefined) throw new Error(`${tool} -version prints no version of ${name}`)
  return version
}

/**
 * Returns the path of the tool in its npm package. Throws `FfmpegNotFound` if it is not installed.
 * There are packages for some architectures only. Both tools are of the same ffmpeg build.
 */
async function findPackaged(tool: 'ffmpeg' | 'ffprobe'): Promise<string> {
  const name = `@backendsuraj/offline-${tool}-${process.platform}-${process.arch}`
  const path = join(dirname(resolvePackage(name)), 'bin', tool)
  // Packages are installed without running their scripts, one of which would set the mode.
  if (!(await isProgram(path))) await chmod(path, 0o755)
  return path
}

function resolvePackage(name: string): string {
  try {
    return createRequire(import.meta.url).resolve(`${name}/package.json`)
  } catch (cause) {
    throw new FfmpegNotFound(
      `the system has no ffmpeg ${OLDEST_VERSION} or newer with ffprobe, and the package ${name} is not installed: install ffmpeg or set VITASCOPE_FFMPEG`,
      cause,
    )
  }
}
