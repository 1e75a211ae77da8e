export interface Segment {
  name: string
  seconds: number
  bytes: number
}

/** Returns names and durations of the segments in a list that ffmpeg wrote. */
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

/**
 * Returns the playlist of a rendition or audio track. While it grows, `targetSeconds` is the
 * segment duration, because the target duration must not change.
 */
export function mediaPlaylist(init: string, segments: readonly Segment[], { isGrowing = false, targetSeconds = 0 } = {}): string {
  const target = Math.max(1, Math.round(targetSeconds), Math.round(findMaximum(segments.map(({ seconds }) => seconds))))
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

/** A variant stream of the master playlist: a rendition with its sound, or sound only. */
export interface Variant {
  uri: string
  segments: readonly Segment[]
  codecs: readonly string[]
  picture?: { width: number; height: number; framesPerSecond: number }
  /** Audio group of the variant, if its sound is a separate track or there are several tracks. */
  audio?: AudioGroup
}

export interface AudioGroup {
  key: string
  /** Tracks of the group; one of them is the default. */
  tracks: readonly AudioTrack[]
}

export interface AudioTrack {
  uri: string
  /** Name without double quotes and line breaks, unique in the group. */
  name: string
  /** BCP 47, or empty. */
  language: string
  isDefault: boolean
  segments: readonly Segment[]
}

/** Returns the master playlist. */
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
    // A track without a language can only be selected manually.
    ...[`DEFAULT=${isDefault ? 'YES' : 'NO'}`, `AUTOSELECT=${isDefault || language !== '' ? 'YES' : 'NO'}`],
    ...['CHANNELS="2"', `URI="${uri}"`],
  ].join(',')}`
}

function streamTag({ segments, codecs, picture, audio }: Variant): string {
  // Returns the highest rate of the variant. Of several audio tracks the one with the highest rate
  // counts; for a variant with sound only it is one of them.
  const highestRate = (rate: (segments: readonly Segment[]) => number) => {
    const sound = Math.max(0, ...(audio?.tracks ?? []).map((track) => rate(track.segments)))
    return picture ? rate(segments) + sound : Math.max(rate(segments), sound)
  }
  return `#EXT-X-STREAM-INF:${[
    `BANDWIDTH=${highestRate(peakRate)}`,
    `AVERAGE-BANDWIDTH=${highestRate(averageRate)}`,
    `CODECS="${codecs.join(',')}"`,
    ...(picture ? [`RESOLUTION=${picture.width}x${picture.height}`, `FRAME-RATE=${picture.framesPerSecond.toFixed(3)}`] : []),
    ...(audio ? [`AUDIO="${audio.key}"`] : []),
  ].join(',')}`
}

/**
 * Returns the highest bit rate of a segment, at least the average. Segments that are shorter than
 * half of the longest one do not count.
 */
function peakRate(segments: readonly Segment[]): number {
  const longest = findMaximum(segments.map(({ seconds }) => seconds))
  const rates = segments.filter((segment) => segment.seconds >= longest / 2).map(({ bytes, seconds }) => (bytes * 8) / seconds)
  return Math.max(Math.ceil(findMaximum(rates)), averageRate(segments))
}

/** Returns the greatest number, at least 0. A week has 151,200 segments, which is too many for the arguments of a call. */
function findMaximum(numbers: readonly number[]): number {
  return numbers.reduce((greatest, number) => Math.max(greatest, number), 0)
}

function averageRate(segments: readonly Segment[]): number {
  const seconds = segments.reduce((sum, segment) => sum + segment.seconds, 0)
  return seconds > 0 ? Math.ceil((segments.reduce((sum, segment) => sum + segment.bytes, 0) * 8) / seconds) : 0
}

function lines(list: string[]): string {
  return `${list.join('\n')}\n`
}
