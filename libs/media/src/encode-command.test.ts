// Faults: S7, S9, S10
import { expect, test } from '@jest/globals'
import { audioArguments, videoArguments } from './encode-command.ts'
import { planEncode } from './plan.ts'
import type { SourceProbe } from './source-probe.ts'

function buildProbe(more: Partial<SourceProbe> = {}): SourceProbe {
  return {
    container: 'mp4',
    demuxer: 'mov',
    durationSeconds: 10,
    bitrate: 0,
    streams: 2,
    video: {
      index: 0,
      codec: 'h264',
      width: 1280,
      height: 720,
      rotation: 0,
      frameRate: { numerator: 30_000, denominator: 1001 },
      variableRate: false,
      pixelFormat: 'yuv420p',
      bitDepth: 8,
      interlaced: false,
      fullRange: false,
      transfer: '',
      declaresColours: true,
      endSeconds: 9.5,
    },
    audio: [{ index: 1, codec: 'aac', channels: 2, sampleRate: 48_000, language: 'en', title: '', isDefault: true, endSeconds: 10 }],
    ...more,
  }
}

function argumentsFor(probe: SourceProbe, index = 0): string[] {
  const plan = planEncode({ probe, tools: { version: '9.0', toneMap: true } })
  const chunk = plan.chunks[index]
  if (!chunk) throw new Error('the plan has no such chunk')
  return videoArguments(plan, chunk, 'chunk-00000', { x264Asm: 'AVX2' })
}

function soundFor(probe: SourceProbe): string[] {
  return audioArguments(planEncode({ probe, tools: { version: '9.0', toneMap: true } }), 'chunk-00001')
}

const withKeyInterval = (probe: SourceProbe): SourceProbe => ({
  ...probe,
  ...(probe.video && { video: { ...probe.video, keySeconds: 2 } }),
})

test('the plan is plain JSON with values from the probe', () => {
  const plan = planEncode({ probe: buildProbe(), tools: { version: '9.0', toneMap: true } })
  expect(JSON.parse(JSON.stringify(plan))).toEqual(plan)
  expect(plan).toMatchObject({
    durationSeconds: 10,
    segmentSeconds: 4.004,
    video: { frames: 300, groupFrames: 60, holdSeconds: 1.5 },
    audio: {
      sounds: [{ silenceSeconds: 1, language: 'en', name: 'English' }],
      tracks: [{ key: 'audio_32' }, { key: 'audio_64' }, { key: 'audio_128' }],
    },
    chunks: [{ index: 0, startFrame: 0, frames: 300, startSeconds: 0, firstSegment: 1, expectedCpuSeconds: 9.616848 }],
  })
})

test('the source is decoded once, from a protected input with a fixed name, and each size is scaled once', () => {
  const args = argumentsFor(buildProbe())
  expect(args.filter((word) => word === '-i')).toHaveLength(1)
  expect(args[args.indexOf('-i') + 1]).toBe('file:source')
  const guards = args.slice(0, args.indexOf('-i'))
  for (const [option, value] of [
    ['-f', 'mov'],
    ['-format_whitelist', 'mov'],
    ['-protocol_whitelist', 'file'],
    ['-max_pixels', '35389440'],
  ]) {
    expect(guards[guards.indexOf(option ?? '') + 1]).toBe(value)
  }
  const graph = args[args.indexOf('-filter_complex') + 1] ?? ''
  expect(graph.match(/scale=\d+:\d+/g)).toEqual(['scale=1280:720', 'scale=854:480', 'scale=640:360', 'scale=426:240', 'scale=256:144'])
  expect(args.filter((word) => word.endsWith('/index.m3u8'))).toHaveLength(6)
})

test('arguments contain no text of the source', () => {
  for (const word of [...argumentsFor(withKeyInterval(buildProbe()), 1), ...soundFor(buildProbe())])
    expect(word).toMatch(/^[\w\-+=:.,;[\]/%|()*\\]+$/)
})

test('the filters for HDR, interlacing and more than eight channels are added', () => {
  const probe = buildProbe()
  if (!probe.video) throw new Error('the probe has no picture')
  const video = { ...probe.video, transfer: 'smpte2084', interlaced: true }
  const audio = probe.audio.map((stream) => ({ ...stream, channels: 16 }))
  const args = argumentsFor({ ...probe, video, audio }).join(' ')
  expect(args).toContain('[0:0]bwdif=mode=send_frame,fps=fps=30000/1001')
  expect(args).toContain('tonemap=tonemap=hable')
  expect(soundFor({ ...probe, video, audio }).join(' ')).toContain('[0:1]pan=stereo|c0=c0|c1=c1,')
})

test('seeking for a middle chunk starts half a second early, with the time stamps of the source', () => {
  const args = argumentsFor(withKeyInterval(buildProbe()), 1).join(' ')
  expect(args).toContain('-copyts -start_at_zero -ss 3.504 -noaccurate_seek')
  expect(args).toContain('fps=fps=30000/1001:start_time=4.004000,tpad=stop_mode=clone:stop_duration=1.5,trim=start_frame=0:end_frame=180,')
  expect(args).toContain('-hls_segment_options use_editlist=0:movflags=+cmaf+frag_discont:fragment_index=2')
  expect(args).toContain('-start_number 2')
})

test('every audio stream has its own filter graph, and is encoded at every bit rate', () => {
  const [first] = buildProbe().audio
  if (!first) throw new Error('the probe has no sound')
  const second = { ...first, index: 2, isDefault: false, language: 'ger' }
  const args = soundFor({ ...buildProbe(), audio: [first, second] })
  const graphs = args.filter((_, index) => args[index - 1] === '-filter_complex')
  expect(graphs.map((graph) => graph.replace(/\].*,asplit/, '] … asplit'))).toEqual([
    '[0:1] … asplit=3[audio_32][audio_64][audio_128]',
    '[0:2] … asplit=3[audio_32_2][audio_64_2][audio_128_2]',
  ])
  expect(args.filter((word) => word.endsWith('/index.m3u8'))).toHaveLength(6)
})

test('if time stamps may jump, the video run also reads the audio, and the audio run the video', () => {
  const probe = { ...buildProbe(), container: 'mpegts', demuxer: 'mpegts' } as const
  expect(argumentsFor(probe).join(' ')).toContain('-map 0:1 -c copy -f null')
  expect(soundFor(probe).join(' ')).toContain('-map 0:0 -c copy -f null')
  expect([...argumentsFor(buildProbe()), ...soundFor(buildProbe())].join(' ')).not.toContain('null')
})
