import { type CaptionLine, writeVtt } from '@vitascope/captions'

/** Captions of a video in HLS. */
export interface CaptionTrack {
  captionId: string
  /** Changes with the lines. */
  revision: number
  /** Not empty and unique within the video. */
  name: string
  /** A language code. */
  language: string
  showsOnLoad: boolean
}

/** The part of a playback policy that concerns captions. */
export interface CaptionSettings {
  /** Path of the set's file that players open first; empty if there is none. */
  masterPath: string
  durationSeconds: number
  tracks: readonly CaptionTrack[]
}

export const NO_CAPTIONS: CaptionSettings = { masterPath: '', durationSeconds: 0, tracks: [] }

/**
 * A file that depends on captions: the master playlist, the playlist of one track, or its text.
 * Unknown captions have no track and are served without lines: on an error, a running player would
 * stop the stream, although only the captions were deleted.
 */
export type CaptionFile = { kind: 'master' } | { kind: 'playlist'; captionId: string } | { kind: 'text'; track: CaptionTrack | undefined }

/** Returns the caption file that a path of the set denotes, or undefined for all other files. */
export function parseCaptionPath(file: string, { masterPath, tracks }: CaptionSettings): CaptionFile | undefined {
  if (masterPath === '') return undefined
  if (file === masterPath) return { kind: 'master' }
  const folder = `${masterPath.slice(0, masterPath.lastIndexOf('/') + 1)}captions/`
  const [, id, ending] = /^(\d{1,19})\.(m3u8|vtt)$/.exec(file.startsWith(folder) ? file.slice(folder.length) : '') ?? []
  if (id === undefined) return undefined
  return ending === 'vtt' ? { kind: 'text', track: tracks.find(({ captionId }) => captionId === id) } : { kind: 'playlist', captionId: id }
}

/** Returns the master playlist with a group of all captions, referenced by every variant. */
export function withCaptions(master: string, tracks: readonly CaptionTrack[]): string {
  if (tracks.length === 0) return master
  const lines = master.split('\n')
  const first = lines.findIndex((line) => /^#EXT-X-(MEDIA|STREAM-INF):/.test(line))
  if (first === -1) return master
  const named = lines.map((line) => (line.startsWith('#EXT-X-STREAM-INF:') ? `${line},SUBTITLES="captions"` : line))
  return [...named.slice(0, first), ...tracks.map(formatMediaTag), ...named.slice(first)].join('\n')
}

function formatMediaTag({ captionId, name, language, showsOnLoad }: CaptionTrack): string {
  return `#EXT-X-MEDIA:${[
    'TYPE=SUBTITLES',
    'GROUP-ID="captions"',
    `NAME="${toAttributeText(name)}"`,
    `LANGUAGE="${toAttributeText(language)}"`,
    `DEFAULT=${showsOnLoad ? 'YES' : 'NO'}`,
    'AUTOSELECT=YES',
    'FORCED=NO',
    `URI="captions/${captionId}.m3u8"`,
  ].join(',')}`
}

/** Replaces quotation marks and line breaks, which a quoted HLS attribute cannot contain, and other control characters. */
function toAttributeText(text: string): string {
  return text.replaceAll('"', '”').replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ')
}

/**
 * Returns a playlist with one segment for the whole video. Players load it once, so later changes
 * do not reach them.
 */
export function writeCaptionPlaylist(captionId: string, durationSeconds: number): string {
  const seconds = Math.max(durationSeconds, 1)
  return [
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${Math.ceil(seconds)}`,
    '#EXT-X-MEDIA-SEQUENCE:1',
    '#EXT-X-PLAYLIST-TYPE:VOD',
    `#EXTINF:${seconds.toFixed(6)},`,
    `${captionId}.vtt`,
    '#EXT-X-ENDLIST',
    '',
  ].join('\n')
}

const TIMESTAMP_MAP = 'X-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000'

/** Returns the WebVTT text. Its times are those of the video stream, which starts at 0. */
export function writeCaptionText(lines: readonly CaptionLine[]): string {
  return writeVtt(lines, [TIMESTAMP_MAP])
}

/** Returns the text without the header that only HLS players need, for a file that is saved. */
export function toSavedCaptions(text: Buffer): Buffer {
  return Buffer.from(text.toString().replace(`${TIMESTAMP_MAP}\n`, ''))
}
