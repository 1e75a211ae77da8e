export interface Segment {
  name: string
  seconds: number
  bytes: number
}

/** Names and lengths of the segments in a list that ffmpeg wrote. */
export function readSegmentList(text: string): { name: string; seconds: number }[] {
  const segments: { name: string; seconds: number }[] = []
  let seconds: number | undefined
  for (const line of text.split('\n')) {
    if (line.startsWith('#EXTINF:')) seconds = Number.parseFloat(line.slice('#EXTINF:'.length))
    else if (line !== '' && !line.startsWith('#') && seconds !== undefined) {
      segments.push({ name: line.trim(), seconds })
      seconds = undefined
    }
  }
  return segments
}

/** The playlist of one rendition or audio track. While it grows, `targetSeconds` is the length of a segment: the target must not change. */
export function mediaPlaylist(init: string, segments: readonly Segment[], { isGrowing = false, targetSeconds = 0 } = {}): string {
  const target = Math.max(1, Math.round(targetSeconds), ...segments.map((segment) => Math.round(segment.seconds)))
  return lines([
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    `#EXT-X-TARGETDURATION:${target}`,
    '#EXT-X-MEDIA-SEQUENCE:1',
    `#EXT-X-PLAYLIST-TYPE:${isGrowing ? 'EVENT' : 'VOD'}`,
    '#EXT-X-INDEPENDENT-SEGMENTS',
    `#EXT-X-MAP:URI="${init}"`,
    ...segments.flatMap((segment) => [`#EXTINF:${segment.seconds.toFixed(6)},`, segment.name]),
    ...(isGrowing ? [] : ['#EXT-X-ENDLIST']),
  ])
}

/** One way to watch: a rendition with its sound, or sound alone. */
export interface Variant {
  uri: string
  segments: readonly Segment[]
  codecs: readonly string[]
  picture?: { width: number; height: number; framesPerSecond: number }
  /** Its sound, where that is a track of its own, or one of several to choose from. */
  audio?: AudioGroup
}

export interface AudioGroup {
  key: string
  /** The default one among them. */
  tracks: readonly AudioTrack[]
}

export interface AudioTrack {
  uri: string
  /** Without double quotes and line ends; of no other track of the group. */
  name: string
  /** BCP 47, or empty. */
  language: string
  isDefault: boolean
  segments: readonly Segment[]
}

/** The playlist that a player opens first. */
export function masterPlaylist(variants: readonly Variant[]): string {
  const groups = new Map(variants.flatMap(({ audio }) => (audio ? [[audio.key, audio] as const] : [])))
  return lines([
    '#EXTM3U',
    '#EXT-X-VERSION:7',
    '#EXT-X-INDEPENDENT-SEGMENTS',
    ...[...groups.values()].flatMap(({ key, tracks }) => tracks.map((track) => audioTag(key, track))),
    ...variants.flatMap((variant) => [streamTag(variant), variant.uri]),
  ])
}

function audioTag(group: string, { uri, name, language, isDefault }: AudioTrack): string {
  return `#EXT-X-MEDIA:${[
    ...['TYPE=AUDIO', `GROUP-ID="${group}"`, `NAME="${name}"`],
    ...(language === '' ? [] : [`LANGUAGE="${language}"`]),
    // One without a language could only be chosen by hand.
    ...[`DEFAULT=${isDefault ? 'YES' : 'NO'}`, `AUTOSELECT=${isDefault || language !== '' ? 'YES' : 'NO'}`],
    ...['CHANNELS="2"', `URI="${uri}"`],
  ].join(',')}`
}

function streamTag({ segments, codecs, picture, audio }: Variant): string {
  // Of the tracks to choose from the heaviest counts; that of sound alone is one of them.
  const heaviest = (rate: (segments: readonly Segment[]) => number) => {
    const sound = Math.max(0, ...(audio?.tracks ?? []).map((track) => rate(track.segments)))
    return picture ? rate(segments) + sound : Math.max(rate(segments), sound)
  }
  return `#EXT-X-STREAM-INF:${[
    `BANDWIDTH=${heaviest(peakRate)}`,
    `AVERAGE-BANDWIDTH=${heaviest(averageRate)}`,
    `CODECS="${codecs.join(',')}"`,
    ...(picture ? [`RESOLUTION=${picture.width}x${picture.height}`, `FRAME-RATE=${picture.framesPerSecond.toFixed(3)}`] : []),
    ...(audio ? [`AUDIO="${audio.key}"`] : []),
  ].join(',')}`
}

/** Bits a second of the heaviest segment, and never below the average; a short last one counts only where there is no other. */
function peakRate(segments: readonly Segment[]): number {
  const longest = Math.max(0, ...segments.map((segment) => segment.seconds))
  const rates = segments.filter((segment) => segment.seconds >= longest / 2).map(({ bytes, seconds }) => (bytes * 8) / seconds)
  return Math.max(Math.ceil(Math.max(0, ...rates)), averageRate(segments))
}

function averageRate(segments: readonly Segment[]): number {
  const seconds = segments.reduce((sum, segment) => sum + segment.seconds, 0)
  return seconds > 0 ? Math.ceil((segments.reduce((sum, segment) => sum + segment.bytes, 0) * 8) / seconds) : 0
}

function lines(list: string[]): string {
  return `${list.join('\n')}\n`
}
