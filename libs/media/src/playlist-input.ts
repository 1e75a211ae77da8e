import type { FfmpegInput } from './ffmpeg-arguments.ts'
import { setFolder, setLayout } from './set-layout.ts'

/** Returns the input of a complete rendition or audio track of the set. */
export function playlistInput(key: string): FfmpegInput {
  const options = ['-f', 'hls', '-format_whitelist', 'hls,mov', '-protocol_whitelist', 'file']
  return { file: `${setFolder}/${setLayout.playlist(key)}`, options }
}
