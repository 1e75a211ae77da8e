import { type CaptionLine, writeVtt } from '@vitascope/captions'

/** Captions that go with the HLS of a video. */
export interface CaptionTrack {
  captionId: string
  /** Another one has other lines. */
  revision: number
  /** Not empty, and of no two the same. */
  name: string
  /** A language code. */
  language: string
  showsOnLoad: boolean
}

/** What a rule says of captions. */
export interface CaptionRule {
  /** The file of a set that players open first; empty for none. */
  masterPath: string
  durationSeconds: number
  tracks: readonly CaptionTrack[]
}

export const NO_CAPTIONS: CaptionRule = { masterPath: '', durationSeconds: 0, tracks: [] }

/**
 * What a file is to captions: the master that lists them, the playlist of one, or its text; undefined for every other file. Those that are not
 * there have no track, and are as ones without lines: a player that has begun would take an error for the end of its line, not for the end
 * of captions that were deleted meanwhile.
 */
export type CaptionFile = { kind: 'master' } | { kind: 'playlist'; captionId: string } | { kind: 'text'; track: CaptionTrack | undefined }

export function captionFileOf(file: string, { masterPath, tracks }: CaptionRule): CaptionFile | undefined {
  if (masterPath === '') return undefined
  if (file === masterPath) return { kind: 'master' }
  const folder = `${masterPath.slice(0, masterPath.lastIndexOf('/') + 1)}captions/`
  const [, id, ending] = /^(\d{1,19})\.(m3u8|vtt)$/.exec(file.startsWith(folder) ? file.slice(folder.length) : '') ?? []
  if (id === undefined) return undefined
  return ending === 'vtt' ? { kind: 'text', track: tracks.find(({ captionId }) => captionId === id) } : { kind: 'playlist', captionId: id }
}

/** The master with a group of all captions, which every variant names. */
export function withCaptions(master: string, tracks: readonly CaptionTrack[]): string {
  if (tracks.length === 0) return master
  const lines = master.split('\n')
  const first = lines.findIndex((line) => /^#EXT-X-(MEDIA|STREAM-INF):/.test(line))
  if (first === -1) return master
  const named = lines.map((line) => (line.startsWith('#EXT-X-STREAM-INF:') ? `${line},SUBTITLES="captions"` : line))
  return [...named.slice(0, first), ...tracks.map(mediaTag), ...named.slice(first)].join('\n')
}

function mediaTag({ captionId, name, language, showsOnLoad }: CaptionTrack): string {
  return `#EXT-X-MEDIA:${[
    'TYPE=SUBTITLES',
    'GROUP-ID="captions"',
    `NAME="${quotable(name)}"`,
    `LANGUAGE="${quotable(language)}"`,
    `DEFAULT=${showsOnLoad ? 'YES' : 'NO'}`,
    'AUTOSELECT=YES',
    'FORCED=NO',
    `URI="captions/${captionId}.m3u8"`,
  ].join(',')}`
}

/** A playlist has no way to write a quotation mark or a line end in a value. */
function quotable(text: string): string {
  return text.replaceAll('"', '”').replaceAll(/[\p{Cc}\u2028\u2029]/gu, ' ')
}

/** One file for the whole video: players load it once, and nothing that happens to it later reaches them. */
export function captionPlaylist(captionId: string, durationSeconds: number): string {
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

/** Its times are those of the picture, which begins at 0. */
export function captionText(lines: readonly CaptionLine[]): string {
  return writeVtt(lines, ['X-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000'])
}
