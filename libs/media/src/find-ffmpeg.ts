import { execFile } from 'node:child_process'
import { access, chmod, constants } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type PictureCodec, pictureCodecs, pictureEncoders } from './picture-codec.ts'
import { findX264Asm, type X264Asm } from './x264-asm.ts'

/** The two programs, and what this build of them can do. */
export interface FfmpegTools {
  ffmpeg: string
  ffprobe: string
  /** As `ffmpeg -version` says it; two builds are never mixed in one set of renditions. */
  version: string
  /** HDR can be mapped to ordinary range: the filters zscale and tonemap are there. */
  toneMap: boolean
  /** How it can encode a picture. */
  codecs: readonly PictureCodec[]
  /** What libx264 is held to on this machine, where its own choice would not do. */
  x264Asm?: X264Asm
  /** A sentence for the log when this build does not get the security fixes of a distribution. */
  warning?: string
}

/** `path`, where given (`VITASCOPE_FFMPEG`), must work and has ffprobe beside it; else the system's from version 5 on; else the npm packages. */
export async function findFfmpeg(options: { path?: string | undefined; systemFolders?: readonly string[] } = {}): Promise<FfmpegTools> {
  if (options.path !== undefined && options.path !== '') {
    return describe(options.path, join(dirname(options.path), 'ffprobe'))
  }
  for (const folder of options.systemFolders ?? ['/usr/local/bin', '/usr/bin', '/bin', '/opt/homebrew/bin']) {
    const tools = await describe(join(folder, 'ffmpeg'), join(folder, 'ffprobe')).catch(() => undefined)
    if (tools && majorOf(tools.version) >= 5) return tools
  }
  return describe(await packaged('@ffmpeg-binary', 'ffmpeg'), await packaged('@ffprobe-installer', 'ffprobe'))
}

const run = promisify(execFile)

async function describe(ffmpeg: string, ffprobe: string): Promise<FfmpegTools> {
  for (const tool of [ffmpeg, ffprobe]) {
    await access(tool, constants.X_OK).catch(() => {
      throw new Error(`${tool} is not there or cannot be run`)
    })
  }
  const version = versionOf(await output(ffmpeg, ['-version']))
  const encoders = await output(ffmpeg, ['-hide_banner', '-encoders'])
  const has = (encoder: string) => new RegExp(`^ \\S+ ${encoder} `, 'm').test(encoders)
  for (const encoder of [pictureEncoders.h264, 'aac', 'mjpeg']) if (!has(encoder)) throw new Error(`${ffmpeg} has no encoder ${encoder}`)
  const codecs = pictureCodecs.filter((codec) => has(pictureEncoders[codec]))
  const filters = await output(ffmpeg, ['-hide_banner', '-filters'])
  const toneMap = / zscale /.test(filters) && / tonemap /.test(filters)
  const x264Asm = await findX264Asm()
  const warning = warningFor(version)
  return {
    ffmpeg,
    ffprobe,
    version,
    toneMap,
    codecs,
    ...(x264Asm === undefined ? {} : { x264Asm }),
    ...(warning === undefined ? {} : { warning }),
  }
}

async function output(tool: string, args: string[]): Promise<string> {
  const { stdout } = await run(tool, args, { timeout: 20_000, maxBuffer: 4 << 20, env: {} })
  return stdout
}

function versionOf(text: string): string {
  const version = /^ffmpeg version (\S+)/.exec(text)?.[1]
  if (version === undefined) throw new Error('this ffmpeg does not tell its version')
  return version
}

/** A build from the development line (`N-…`) has no number and counts as new. */
function majorOf(version: string): number {
  return Number(/^n?(\d+)\./.exec(version)?.[1] ?? 99)
}

/** A distribution's build carries its package version (`5.1.9-0+deb12u1`, `6.1.1-3ubuntu5`): it gets security fixes under an old number. */
export function warningFor(version: string): string | undefined {
  if (/^\d+(\.\d+)*-\S*(deb|ubuntu|el\d|fc\d|suse|alpine|\+b\d|-r\d)/.test(version)) return undefined
  const numbers = /^n?(\d+)\.(\d+)(?:\.(\d+))?/.exec(version)
  if (numbers) {
    const [major, minor, patch] = numbers.slice(1).map((part) => Number(part ?? 0))
    if (atLeast([major ?? 0, minor ?? 0, patch ?? 0], [8, 1, 3])) return undefined
  }
  return `ffmpeg ${version} does not get the distribution's security fixes and is older than 8.1.3 (CVE-2026-107697 and others): install the system's ffmpeg, or name a newer one in VITASCOPE_FFMPEG`
}

function atLeast(have: number[], want: number[]): boolean {
  for (const [index, wanted] of want.entries()) {
    const difference = (have[index] ?? 0) - wanted
    if (difference !== 0) return difference > 0
  }
  return true
}

async function packaged(scope: string, tool: string): Promise<string> {
  const name = `${scope}/${process.platform}-${process.arch}`
  const path = join(dirname(resolvePackage(name)), tool)
  // Packages are installed without their scripts, and this one's ffprobe comes as mode 0644.
  await access(path, constants.X_OK).catch(() => chmod(path, 0o755))
  return path
}

function resolvePackage(name: string): string {
  try {
    return createRequire(import.meta.url).resolve(`${name}/package.json`)
  } catch (cause) {
    throw new Error(`no ffmpeg from version 5 on in the system, and no package ${name}: install ffmpeg or set VITASCOPE_FFMPEG`, { cause })
  }
}
