import { execFile } from 'node:child_process'
import { truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findFfmpeg } from '@vitascope/media'

const run = promisify(execFile)

const picture = (size: string, seconds: number, rate = 30) => [
  '-f',
  'lavfi',
  '-i',
  `testsrc2=size=${size}:rate=${rate}:duration=${seconds}`,
]
const sound = (seconds: number) => ['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=48000:duration=${seconds}`]
const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-threads', '2']
const aac = ['-c:a', 'aac', '-b:a', '96k', '-shortest']

/** ffmpeg arguments of each source, without the name of the file. */
const KINDS = {
  /**
   * 12 s with a key frame every 2 s and a low bit rate: its picture is copied into the largest
   * rendition.
   */
  'copied.mp4': [...picture('640x360', 12), ...sound(12), '-c:v', 'libx264', '-g', '60', '-pix_fmt', 'yuv420p', ...aac],
  /** 12 s of 720p with audio. */
  'good.mp4': [...picture('1280x720', 12), ...sound(12), ...h264, ...aac],
  /** 12 s of 448x252 with audio; encodes in less than half the time of `good.mp4`. */
  'medium.mp4': [...picture('448x252', 12), ...sound(12), ...h264, ...aac],
  /** 6 s, small, with audio; encodes quickly. */
  'small.mp4': [...picture('320x180', 6), ...sound(6), ...h264, ...aac],
  'other.mp4': [...picture('256x144', 4), ...sound(4), ...h264, ...aac],
  /** 60 s, small. */
  'minute.mp4': [...picture('320x180', 60), ...sound(60), ...h264, ...aac],
  /** 75 s of 360p with audio; encodes slowly. */
  'long.mp4': [...picture('640x360', 75), ...sound(75), ...h264, ...aac],
  'ten-minutes.mp4': [...picture('640x360', 600), ...sound(600), ...h264, ...aac],
  'audio-only.mp3': [...sound(6), '-c:a', 'libmp3lame'],
  'video-only.mp4': [...picture('320x180', 6), ...h264],
  'odd-size.mkv': [...picture('322x182', 6), '-vf', 'crop=321:181:0:0', '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv444p'],
  'variable-rate.mkv': [...picture('320x180', 6), '-vf', "select='not(mod(n,3))+lt(n,60)'", '-fps_mode', 'vfr', ...h264],
} as const

export type SourceKind = keyof typeof KINDS

/** Creates one source in the folder and returns its file name, which is the kind. */
export async function makeSource(folder: string, kind: SourceKind): Promise<string> {
  await ffmpeg([...KINDS[kind], join(folder, kind)])
  return kind
}

/** Creates a phone video: stored in landscape, with metadata for portrait display. */
export async function makePortrait(folder: string): Promise<string> {
  await makeSource(folder, 'small.mp4')
  const { version } = await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })
  const [uprightFile, rotatedFile] = [join(folder, 'small.mp4'), join(folder, 'portrait.mp4')]
  // ffmpeg 5 has no -display_rotation, and later versions ignore the tag.
  if (version.startsWith('5.')) await ffmpeg(['-i', uprightFile, '-c', 'copy', '-metadata:s:v', 'rotate=90', rotatedFile])
  else await ffmpeg(['-display_rotation', '90', '-i', uprightFile, '-c', 'copy', rotatedFile])
  return 'portrait.mp4'
}

/** Creates files that are not playable: `truncated.mp4`, `text.mp4` and `playlist.mp4`. Also creates `small.mp4`. */
export async function makeBadSources(folder: string): Promise<void> {
  await makeSource(folder, 'small.mp4')
  await ffmpeg(['-i', join(folder, 'small.mp4'), '-c', 'copy', join(folder, 'truncated.mp4')])
  await truncate(join(folder, 'truncated.mp4'), 20_000)
  await writeFile(join(folder, 'text.mp4'), 'this is a letter, not a video\n'.repeat(100))
  await writeFile(join(folder, 'playlist.mp4'), '#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n')
}

export async function ffmpeg(args: readonly string[]): Promise<string> {
  const tools = await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })
  return (await run(tools.ffmpeg, ['-hide_banner', '-v', 'error', '-nostdin', '-y', ...args], { maxBuffer: 64 * 1024 * 1024 })).stderr
}

export async function ffprobe(args: readonly string[]): Promise<ProbeResult> {
  const tools = await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })
  const { stdout } = await run(tools.ffprobe, ['-v', 'error', '-of', 'json', ...args], { maxBuffer: 64 * 1024 * 1024 })
  return JSON.parse(stdout) as ProbeResult
}

/** Returns one line per picture frame with the hash of its contents. */
export async function hashFrames(file: string): Promise<string> {
  const tools = await findFfmpeg({ path: process.env['VITASCOPE_FFMPEG'] })
  const { stdout } = await run(tools.ffmpeg, ['-v', 'error', '-i', file, '-map', '0:v?', '-f', 'framemd5', '-'], {
    maxBuffer: 64 * 1024 * 1024,
  })
  return stdout
}

export interface ProbeResult {
  streams: {
    codec_name: string
    codec_type: string
    profile: string
    width?: number
    height?: number
    pix_fmt?: string
    channels?: number
  }[]
  format: { duration: string; bit_rate: string; size: string }
  packets?: { pts_time: string; flags: string }[]
}
