/** A realistic source that ffmpeg creates from test patterns. */
export interface SourceKind {
  name: string
  file: string
  /** Command lines without their output file; `IN` is the output of the previous step. */
  steps: readonly string[]
  /** Size of the largest rendition. */
  size?: readonly [width: number, height: number]
  rate?: string
  /** Number of selectable sounds. Default: 1. */
  sounds?: number
  /** Duration in seconds. Default: 4. */
  seconds?: number
  /** True if the frames match those of the rendition, so that VMAF can compare them. */
  isPlain?: boolean
}

const seconds = 4
/**
 * Returns the input options of a moving picture that is white for half a second, from second 1 on.
 */
const flashInput = (size: string, rate: string | number, more = '') =>
  `-f lavfi -i testsrc2=s=${size}:r=${rate}:d=${seconds},drawbox=t=fill:c=white:enable='between(t,1,1.499)'${more}`
/** Returns the input options of a beep while the picture is white, in one or more channels. */
const beepInput = (channels = 1) =>
  `-f lavfi -i aevalsrc=${Array(channels).fill("'0.8*sin(6283*t)*between(t,1,1.5)'").join('|')}:s=48000:d=${seconds}`
const x264 = '-c:v libx264 -preset ultrafast -crf 18 -pix_fmt yuv420p'
const aac = '-c:a aac -b:a 128k'
const plain = `${flashInput('640x360', 30)} ${beepInput()} ${x264} -g 60`
const hdr = (transfer: string, colours: string) =>
  `${flashInput('640x360', 30, `,scale=out_range=tv,format=yuv420p10le,setparams=color_trc=${transfer}:${colours}`)} ${beepInput()} -c:v libx265 -x265-params log-level=none -preset ultrafast ${aac}`

const landscape = { size: [640, 360], rate: '30/1' } as const

const containers: readonly SourceKind[] = [
  { name: 'MP4', file: 'plain.mp4', steps: [`${plain} ${aac}`], ...landscape, isPlain: true },
  {
    name: 'MOV, ProRes and PCM',
    file: 'prores.mov',
    steps: [`${flashInput('640x360', 25)} ${beepInput(2)} -c:v prores_ks -c:a pcm_s16le`],
    size: [640, 360],
    rate: '25/1',
    isPlain: true,
  },
  {
    name: 'Matroska, HEVC and Opus',
    file: 'hevc.mkv',
    steps: [`${flashInput('640x360', 30)} ${beepInput()} -c:v libx265 -x265-params log-level=none -preset ultrafast -crf 18 -c:a libopus`],
    ...landscape,
    isPlain: true,
  },
  {
    name: 'WebM, VP9 and Opus',
    file: 'vp9.webm',
    steps: [`${flashInput('640x360', 30)} ${beepInput()} -c:v libvpx-vp9 -deadline realtime -cpu-used 8 -b:v 3M -c:a libopus`],
    ...landscape,
  },
  {
    name: 'WebM, VP8 and Vorbis',
    file: 'vp8.webm',
    steps: [`${flashInput('640x360', 30)} ${beepInput()} -c:v libvpx -deadline realtime -b:v 3M -c:a libvorbis`],
    ...landscape,
  },
  {
    name: 'MP4, AV1',
    file: 'av1.mp4',
    steps: [`${flashInput('640x360', 30)} ${beepInput()} -c:v libsvtav1 -preset 12 ${aac}`],
    ...landscape,
  },
  { name: 'MPEG-TS', file: 'plain.ts', steps: [`${plain} ${aac}`], ...landscape },
  {
    name: 'MPEG-PS',
    file: 'plain.mpg',
    steps: [`${flashInput('640x360', 25)} ${beepInput(2)} -c:v mpeg2video -b:v 4M -c:a mp2`],
    size: [640, 360],
    rate: '25/1',
  },
  {
    name: 'AVI, MPEG-4 and MP3',
    file: 'plain.avi',
    steps: [`${flashInput('640x360', 25)} ${beepInput(2)} -c:v mpeg4 -q:v 3 -c:a libmp3lame`],
    size: [640, 360],
    rate: '25/1',
  },
  {
    name: 'AVI, H.264 with B frames, whose times are missing',
    file: 'b-frames.avi',
    steps: [`${flashInput('640x360', 25)} ${beepInput(2)} ${x264.replace('ultrafast', 'veryfast')} -bf 3 -c:a libmp3lame`],
    size: [640, 360],
    rate: '25/1',
  },
  { name: 'FLV', file: 'plain.flv', steps: [`${plain} ${aac}`], ...landscape },
  {
    name: 'FLV, Sorenson and MP3',
    file: 'old.flv',
    steps: [`${flashInput('640x360', 25)} ${beepInput()} -c:v flv -b:v 3M -c:a libmp3lame -ar 44100`],
    size: [640, 360],
    rate: '25/1',
  },
  {
    name: 'WMV',
    file: 'plain.wmv',
    steps: [`${flashInput('640x360', 25)} ${beepInput(2)} -c:v wmv2 -b:v 3M -c:a wmav2`],
    size: [640, 360],
    rate: '25/1',
  },
  {
    name: 'Ogg, Theora and Vorbis',
    file: 'plain.ogv',
    steps: [`${flashInput('640x360', 25)} ${beepInput(2)} -c:v libtheora -q:v 8 -c:a libvorbis`],
    size: [640, 360],
    rate: '25/1',
  },
  { name: '3GP, H.263', file: 'phone.3gp', steps: [`${flashInput('352x288', 15)} ${beepInput()} -c:v h263 -q:v 3 ${aac}`], rate: '15/1' },
]

const sounds: readonly SourceKind[] = [
  ...[
    ['MP3', 'tone.mp3', '-c:a libmp3lame'],
    ['WAV', 'tone.wav', ''],
    ['M4A', 'tone.m4a', aac],
    ['FLAC', 'tone.flac', ''],
    ['Ogg', 'tone.ogg', '-c:a libvorbis'],
    ['ADTS', 'tone.aac', aac],
  ].map(([name = '', file = '', codec = '']) => ({ name: `${name} alone`, file, steps: [`${beepInput(2)} ${codec}`] })),
  { name: 'no sound', file: 'silent.mp4', steps: [`${flashInput('640x360', 30)} ${x264}`], ...landscape, sounds: 0, isPlain: true },
  { name: '5.1 in AC-3', file: 'surround.mkv', steps: [`${flashInput('640x360', 30)} ${beepInput(6)} ${x264} -c:a ac3`], ...landscape },
  {
    name: '7.1 in FLAC',
    file: 'eight.mkv',
    steps: [`${flashInput('640x360', 30)} ${beepInput(8)} ${x264} -c:a flac -channel_layout 7.1`],
    ...landscape,
  },
  {
    name: 'three languages',
    file: 'languages.mp4',
    steps: [
      `${flashInput('640x360', 30)} ${beepInput()} ${x264} ${aac} -map 0 ${'-map 1 '.repeat(3)} -metadata:s:a:0 language=eng -metadata:s:a:1 language=fre -metadata:s:a:2 language=ger`,
    ],
    ...landscape,
    sounds: 3,
  },
  {
    name: 'ten sounds',
    file: 'ten.mkv',
    steps: [`${flashInput('640x360', 30)} ${beepInput()} ${x264} ${aac} -map 0 ${'-map 1 '.repeat(10)}`],
    ...landscape,
    sounds: 8,
  },
  {
    name: 'sound that begins late',
    file: 'late.mkv',
    steps: [`${plain} ${aac}`, '-i IN -itsoffset 0.7 -i IN -map 0:v -map 1:a -c copy'],
    ...landscape,
    seconds: 4.7,
  },
  {
    name: '8 kHz mono',
    file: 'narrow.mov',
    steps: [`${flashInput('640x360', 30)} ${beepInput()} ${x264} -c:a pcm_mulaw -ar 8000`],
    ...landscape,
  },
]

const pictures: readonly SourceKind[] = [
  ...[90, 180, 270].map((degrees) => ({
    ...{
      name: `turned by ${degrees}°`,
      file: `turned-${degrees}.mp4`,
      steps: [`${plain} ${aac}`, `-display_rotation ${degrees} -i IN -c copy`],
    },
    ...{ size: degrees === 180 ? ([640, 360] as const) : ([360, 640] as const), rate: '30/1' },
  })),
  {
    name: 'odd size in 4:4:4',
    file: 'odd.mp4',
    steps: [`${flashInput('641x359', 30)} ${beepInput()} -c:v libx264 -preset ultrafast -pix_fmt yuv444p ${aac}`],
    size: [640, 358],
    rate: '30/1',
  },
  {
    name: '4:2:2 in 10 bits',
    file: 'deep.mov',
    steps: [`${flashInput('640x360', 30)} ${beepInput()} -c:v libx264 -preset ultrafast -crf 18 -pix_fmt yuv422p10le ${aac}`],
    ...landscape,
    isPlain: true,
  },
  {
    name: 'HEVC in 10 bits',
    file: 'deep.mp4',
    steps: [
      `${flashInput('640x360', 30)} ${beepInput()} -c:v libx265 -x265-params log-level=none -preset ultrafast -pix_fmt yuv420p10le ${aac}`,
    ],
    ...landscape,
    isPlain: true,
  },
  {
    name: 'grey',
    file: 'grey.mkv',
    steps: [`${flashInput('640x360', 30)} ${beepInput()} -c:v libx264 -preset ultrafast -pix_fmt gray ${aac}`],
    ...landscape,
  },
  {
    name: 'full range',
    file: 'full.mp4',
    steps: [`${flashInput('640x360', 30, ',scale=out_range=pc')} ${beepInput()} -c:v libx264 -preset ultrafast -pix_fmt yuvj420p ${aac}`],
    ...landscape,
  },
  { name: 'PQ (HDR10)', file: 'pq.mp4', steps: [hdr('smpte2084', 'color_primaries=bt2020:colorspace=bt2020nc')], ...landscape },
  { name: 'HLG', file: 'hlg.mp4', steps: [hdr('arib-std-b67', 'color_primaries=bt2020:colorspace=bt2020nc')], ...landscape },
  {
    name: 'HLG without its colours',
    file: 'bare-hlg.mkv',
    steps: [hdr('arib-std-b67', 'color_primaries=unknown:colorspace=unknown')],
    ...landscape,
  },
  {
    name: 'PAL with wide pixels',
    file: 'pal.mp4',
    steps: [`${flashInput('720x576', 25, ',setsar=16/11')} ${beepInput()} ${x264} ${aac}`],
    size: [1046, 576],
    rate: '25/1',
  },
  {
    name: 'pixels five times as wide as high',
    file: 'wide.mkv',
    steps: [`${flashInput('128x360', 25, ',setsar=5')} ${beepInput()} ${x264} ${aac}`],
    size: [640, 360],
    rate: '25/1',
  },
  {
    name: 'interlaced MPEG-2',
    file: 'fields.ts',
    steps: [
      `${flashInput('720x576', 50, ',setsar=16/15,interlace=scan=tff')} ${beepInput(2)} -c:v mpeg2video -flags +ilme+ildct -b:v 6M -c:a mp2`,
    ],
    size: [768, 576],
    rate: '25/1',
  },
  {
    name: 'interlaced H.264',
    file: 'fields.mkv',
    steps: [
      `${flashInput('640x360', 60, ',interlace=scan=bff')} ${beepInput()} -c:v libx264 -preset ultrafast -x264-params bff=1 -pix_fmt yuv420p ${aac}`,
    ],
    size: [640, 360],
    rate: '30/1',
  },
  {
    name: 'variable frame rate',
    file: 'variable.mp4',
    steps: [`${flashInput('640x360', 30, ',select=not(between(mod(n\\,10)\\,3\\,5))')} ${beepInput()} -fps_mode vfr ${x264} ${aac}`],
    size: [640, 360],
  },
  {
    name: 'five frames a second',
    file: 'slow.mp4',
    steps: [`${flashInput('640x360', 5)} ${beepInput()} ${x264} ${aac}`],
    size: [640, 360],
    rate: '10/1',
  },
  {
    name: '23.976 frames a second',
    file: 'cinema.mp4',
    steps: [`${flashInput('640x360', '24000/1001')} ${beepInput()} ${x264} ${aac}`],
    size: [640, 360],
    rate: '24000/1001',
  },
  {
    name: '120 frames a second',
    file: 'fast.mp4',
    steps: [`${flashInput('640x360', 120)} ${beepInput()} ${x264} ${aac}`],
    size: [640, 360],
    rate: '60/1',
  },
  {
    name: '2160p',
    file: 'uhd.mp4',
    steps: [`${flashInput('3840x2160', 30)} ${beepInput()} ${x264} ${aac}`],
    size: [3840, 2160],
    rate: '30/1',
  },
]

const times: readonly SourceKind[] = [
  {
    name: 'times below zero',
    file: 'negative.mkv',
    steps: [`${plain} ${aac}`, '-itsoffset -0.5 -i IN -c copy -avoid_negative_ts disabled'],
    ...landscape,
  },
  { name: 'times far from zero', file: 'offset.ts', steps: [`${plain} ${aac} -output_ts_offset 7200`], ...landscape },
  { name: 'times that wrap around', file: 'wrapped.ts', steps: [`${plain} ${aac} -output_ts_offset 95441.7`], ...landscape },
  { name: 'an edit list', file: 'edited.mp4', steps: [`${plain} ${aac}`, '-ss 0.5 -i IN -c copy'], ...landscape, seconds: 3.5 },
  {
    name: 'fragments without a length',
    file: 'fragments.mp4',
    steps: [`${plain} ${aac} -movflags frag_keyframe+empty_moov`],
    ...landscape,
  },
  { name: 'Matroska without a length', file: 'live.mkv', steps: [`${plain} ${aac} -live 1`], ...landscape },
  { name: 'FLV without a length', file: 'live.flv', steps: [`${plain} ${aac} -flvflags no_duration_filesize`], ...landscape },
]

export const sourceKinds: readonly SourceKind[] = [...containers, ...sounds, ...pictures, ...times]
