import type { PlaybackKind } from '@vitascope/playback-policy'
import type { DeliveryPath } from './delivery-path.ts'

const KINDS: Readonly<Record<string, PlaybackKind>> = {
  m3u8: 'manifest',
  m4s: 'segment',
  ts: 'segment',
  mp4: 'mp4',
  m4a: 'mp4',
  vtt: 'caption',
  jpg: 'image',
  gif: 'image',
  png: 'image',
  webp: 'image',
}

/** Returns the kind of a file, by which rules and tokens select files. A file with another ending counts as a download. */
export function findKind({ kind, file }: Pick<DeliveryPath, 'kind' | 'file'>): PlaybackKind {
  const byEnding = KINDS[file.slice(file.lastIndexOf('.') + 1)] ?? 'download'
  if (kind === 'presentation') return byEnding === 'image' ? 'slide' : 'download'
  if (file.startsWith('download/')) return 'download'
  // The storyboard is a list of images.
  if (file.startsWith('images/')) return 'image'
  // Initialisation segments are MP4 files.
  if (/^(added\/\d+\/)?hls\/.*\.mp4$/.test(file)) return 'segment'
  return byEnding
}
