import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const LEVELS = [
  { height: 90, width: 160, kilobits: 60 },
  { height: 180, width: 320, kilobits: 160 },
]
const LANGUAGES = ['en', 'nl']

/**
 * Creates two video renditions, audio in two languages, captions in two languages, an MP4 and a
 * storyboard without its picture. HLS segments last 2 s. The master playlist is `long.m3u8`. Throws
 * if ffmpeg fails.
 */
export function createLongMedia(ffmpeg: string, folder: string, seconds: number): void {
  const source = [
    ...['-f', 'lavfi', '-i', `testsrc2=size=320x180:rate=10:duration=${seconds}`],
    ...['-f', 'lavfi', '-i', `sine=frequency=440:duration=${seconds}`],
  ]
  const hls = ['-f', 'hls', '-hls_time', '2', '-hls_playlist_type', 'vod', '-hls_segment_type', 'fmp4']
  const toFileArguments = (name: string) => [
    '-hls_fmp4_init_filename',
    `${name}-init.mp4`,
    '-hls_segment_filename',
    `${name}-%d.m4s`,
    `${name}.m3u8`,
  ]
  const codec = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p', '-g', '20', '-keyint_min', '20', '-sc_threshold', '0']
  const pictures = LEVELS.flatMap(({ height, kilobits }) => {
    return [
      '-map',
      '0:v',
      '-vf',
      `scale=-2:${height}`,
      ...codec,
      ...toRateArguments(kilobits),
      ...hls,
      ...toFileArguments(`long-${height}`),
    ]
  })
  const sounds = LANGUAGES.flatMap((language) => [
    '-map',
    '1:a',
    '-c:a',
    'aac',
    '-b:a',
    '32k',
    ...hls,
    ...toFileArguments(`long-${language}`),
  ])
  const sound = ['-c:a', 'aac', '-b:a', '32k']
  const mp4 = ['-map', '0:v', '-map', '1:a', ...codec, ...toRateArguments(160), ...sound, '-movflags', '+faststart', 'long.mp4']
  const { status, stderr } = spawnSync(ffmpeg, ['-v', 'error', '-y', ...source, ...pictures, ...sounds, ...mp4], { cwd: folder })
  if (status !== 0) throw new Error(`ffmpeg failed to create the media: ${stderr}`)

  const cue = 'WEBVTT\n\n00:00.000 --> 02:00.000\nGood evening\n'
  const captions = `#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:${seconds}\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:${seconds}.0,\nlong.vtt\n#EXT-X-ENDLIST\n`
  const media = LANGUAGES.flatMap((language, index) => [
    `#EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="sound",NAME="${language}",LANGUAGE="${language}",DEFAULT=${index === 0 ? 'YES' : 'NO'},AUTOSELECT=YES,URI="long-${language}.m3u8"`,
    `#EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="captions",NAME="${language}",LANGUAGE="${language}",DEFAULT=NO,URI="long-captions.m3u8"`,
  ])
  const levels = LEVELS.flatMap(({ height, width, kilobits }) => [
    `#EXT-X-STREAM-INF:BANDWIDTH=${(kilobits + 40) * 1000},RESOLUTION=${width}x${height},CODECS="avc1.42c01f,mp4a.40.2",AUDIO="sound",SUBTITLES="captions"`,
    `long-${height}.m3u8`,
  ])
  writeFileSync(join(folder, 'long.vtt'), cue)
  writeFileSync(join(folder, 'storyboard.vtt'), `WEBVTT\n\n00:00.000 --> 03:00.000\nstoryboard.jpg#xywh=0,0,160,90\n`)
  writeFileSync(join(folder, 'long-captions.m3u8'), captions)
  writeFileSync(join(folder, 'long.m3u8'), ['#EXTM3U', '#EXT-X-VERSION:7', ...media, ...levels, ''].join('\n'))
}

/**
 * Returns the arguments for a constant bit rate: each segment takes the same time on a throttled
 * line.
 */
function toRateArguments(kilobits: number): string[] {
  const rate = `${kilobits}k`
  return ['-b:v', rate, '-minrate', rate, '-maxrate', rate, '-bufsize', rate, '-x264-params', 'nal-hrd=cbr:force-cfr=1']
}
