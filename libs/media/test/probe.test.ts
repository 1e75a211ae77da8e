// Faults: S7, S9, S11, S12, R2, R3
import { open, readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { extendTimeout, recordFigure } from '@vitascope/testing'
import { isEncodeError, isInvalidSource, probeSource } from '../src/index.ts'
import { type MediaFixture, openMediaFixture, picture, quick, sound } from './media-fixtures.ts'

let fixture: MediaFixture

beforeAll(async () => {
  fixture = await openMediaFixture()
})
afterAll(() => fixture.close())

const probe = (source: string, { scratch = fixture.scratch('probe'), tools = fixture.tools } = {}) =>
  probeSource({ source, scratch, tools, runLimits: { memoryBytes: 150 * 2 ** 20 } })

async function writeSource(name: string, content: string | Buffer): Promise<string> {
  const file = join(fixture.folder, name)
  await writeFile(file, content)
  return file
}

describe('supported sources', () => {
  test.each([
    ['clip.mp4', '', 'mp4'],
    ['clip.mkv', '', 'matroska'],
    ['clip.webm', '-c:v libvpx -b:v 500k -deadline realtime -c:a libopus', 'matroska'],
    ['clip.ts', '', 'mpegts'],
    ['clip.avi', '-c:v mpeg4 -c:a mp3', 'avi'],
    ['clip.flv', '', 'flv'],
    ['clip.wmv', '-c:v wmv2 -c:a wmav2', 'asf'],
    ['clip.mpg', '-c:v mpeg2video -c:a mp2', 'mpeg'],
  ])('%s is read with the demuxer of its format only', async (name, codecs, container) => {
    const source = await fixture.make(name, `${picture('320x240', 25, 2)} ${sound(2)} ${quick} ${codecs}`)
    const result = await probe(source)
    expect(result).toMatchObject({ container, video: { width: 320, height: 240, variableRate: false } })
    expect(result.audio).toHaveLength(1)
    expect(Math.abs(result.durationSeconds - 2)).toBeLessThan(0.2)
  })

  test.each([
    ['tone.mp3', '-c:a libmp3lame', 'mp3'],
    ['tone.wav', '', 'wav'],
    ['tone.ogg', '-c:a libopus', 'ogg'],
    ['tone.flac', '', 'flac'],
    ['tone.aac', '-c:a aac', 'aac'],
  ])('%s is recognised as audio', async (name, codecs, container) => {
    const result = await probe(await fixture.make(name, `${sound(2)} -t 2 ${codecs}`))
    expect(result).toMatchObject({ container, audio: [{ channels: 1 }] })
    expect(result.video).toBeUndefined()
    expect(Math.abs(result.durationSeconds - 2)).toBeLessThan(0.2)
  })

  test('subtitles and cover pictures are ignored, and all audio tracks are found', async () => {
    const subtitles = await writeSource('words.srt', '1\n00:00:00,000 --> 00:00:01,000\nhello\n')
    const film = `${picture('320x240', 25, 2)} ${sound(2)} ${sound(2)} -i ${subtitles} -map 0 -map 1 -map 2 -map 3 ${quick}`
    const trackOptions = '-metadata:s:a:1 language=fra -disposition:a:1 default -disposition:a:0 0'
    const results = [
      await probe(await fixture.make('film.mkv', `${film} ${trackOptions} -c:s ass`)),
      await probe(await fixture.make('film.mp4', `${film} -c:s mov_text`)),
    ]
    expect(results.map((each) => [each.streams, each.audio.length, each.video?.index])).toEqual([
      [4, 2, 0],
      [4, 2, 0],
    ])
    expect(results[0]?.audio[1]).toMatchObject({ language: 'fra', isDefault: true })
    const cover = await fixture.make('cover.jpg', '-f lavfi -i testsrc=s=300x300 -frames:v 1')
    const song = await fixture.make(
      'song.mp3',
      `${sound(2)} -i ${cover} -map 0 -map 1 -c:a libmp3lame -c:v copy -disposition:v attached_pic`,
    )
    const songProbe = await probe(song)
    expect([songProbe.streams, songProbe.audio.length, songProbe.video]).toEqual([2, 1, undefined])
  })

  test('a missing duration is measured', async () => {
    const result = await probe(await fixture.make('live.mkv', `${picture('320x240', 25, 3)} ${sound(3)} ${quick} -live 1`))
    expect(Math.abs(result.durationSeconds - 3)).toBeLessThan(0.2)
  })

  test('a name full of patterns and options is never passed to a tool', async () => {
    const created = await fixture.make('plain.mp4', `${picture('320x240', 25, 1)} ${quick}`)
    const source = await writeSource('-i %03d|concat:x\n$(id).mp4', await readFile(created))
    const scratch = fixture.scratch('patterns')
    await expect(probe(source, { scratch })).resolves.toMatchObject({ container: 'mp4' })
    expect(await readdir(scratch)).toEqual(['source'])
  })
})

describe('rejects files that are not video with 4002:', () => {
  const secret = 'marker of another tenant'
  const hls = (uri: string) => `#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n${uri}\n#EXT-X-ENDLIST\n`
  test.each([
    ['plain text', 'just some words, and not a video at all\n'.repeat(50)],
    ['an empty file', ''],
    ['HLS that points to a file', hls('file:///etc/passwd')],
    ['HLS that points to an address', hls('http://127.0.0.1:9/x.ts')],
    ['an ffconcat script', "ffconcat version 1.0\nfile '/etc/passwd'\n"],
    ['a DASH manifest', '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period/></MPD>'],
    ['an SDP session', 'v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nm=video 5004 RTP/AVP 96\n'],
    ['a GIF', 'GIF89a\x01\x00\x01\x00\x00\x00\x00;'],
    ['terminal art', '\x1b[31mred\x1b[0m\n'.repeat(40)],
  ])('%s named .mp4, before a tool reads it', async (name, content) => {
    const source = await writeSource(`${name.replace(/\W/g, '-')}.mp4`, content)
    const tools = { ...fixture.tools, ffmpeg: '/missing/ffmpeg', ffprobe: '/missing/ffprobe' }
    await expect(probe(source, { tools })).rejects.toMatchObject({ name: 'InvalidSource', code: 4002 })
  })

  test.each([
    ['HLS after an Ogg signature', `OggS\n${hls('/etc/passwd')}`],
    ['a Matroska header without content', Buffer.concat([Buffer.from('1a45dfa3934282886d6174726f736b61', 'hex'), Buffer.alloc(400, 7)])],
    ['an MP4 header without content', Buffer.concat([Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isomavc1', 'latin1'), Buffer.from(secret)])],
  ])('%s named .mp4', async (name, content) => {
    const source = await writeSource(`${name.replace(/\W/g, '-')}.mp4`, content)
    await expect(probe(source)).rejects.toMatchObject({ name: 'InvalidSource', code: 4002 })
  })

  test('a picture of 16000x16000, within a second', async () => {
    const header = Buffer.from('89504e470d0a1a0a0000000d494844520000' + '3e8000003e800802000000', 'hex')
    const started = performance.now()
    await expect(probe(await writeSource('bomb.png', header))).rejects.toMatchObject({ code: 4002 })
    const elapsedMs = performance.now() - started
    recordFigure('R2', `picture of 16000x16000 rejected in ${Math.round(elapsedMs)} ms`)
    expect(elapsedMs).toBeLessThan(extendTimeout(1000))
  })

  test('a codec that is not supported, by its name', async () => {
    const source = await fixture.make('magic.avi', `${picture('320x240', 25, 1)} -c:v magicyuv`)
    await expect(probe(source)).rejects.toMatchObject({ code: 4002, message: expect.stringContaining('magicyuv') })
  })

  test.each([
    ['with moov at the end', ''],
    ['with moov at the start', '-movflags +faststart'],
  ])('an MP4 truncated %s', async (_, flags) => {
    const source = await fixture.make(`cut${flags.length}.mp4`, `-f lavfi -i testsrc2=s=320x240:r=25:d=10 ${sound(10)} ${quick} ${flags}`)
    const { length } = await readFile(source)
    await truncate(source, Math.floor(length * 0.6))
    await expect(probe(source)).rejects.toMatchObject({ code: 4002, message: expect.stringContaining('truncated') })
  })

  test('a broken time stamp that turns a second into hours', async () => {
    const source = await fixture.make(
      'leap.mkv',
      `${picture('160x120', 25, 1)} -vf setpts=PTS+if(eq(N\\,24)\\,11000/TB) -fps_mode vfr ${quick}`,
    )
    await expect(probe(source)).rejects.toMatchObject({ code: 4002, message: expect.stringContaining('cannot be a video of 1100') })
  })

  test('a truncated Matroska file', async () => {
    const source = await fixture.make('cut.mkv', `-f lavfi -i testsrc2=s=320x240:r=25:d=10 ${sound(10)} ${quick}`)
    await truncate(source, Math.floor((await readFile(source)).length * 0.6))
    await expect(probe(source)).rejects.toMatchObject({ code: 4002 })
  })
})

describe('rejects sources that are too large or too long with 4003:', () => {
  test.each([
    ['8192x8192 in H.264', 'large.mp4', `-f lavfi -i color=s=8192x8192:r=1:d=1 -c:v libx264 -preset ultrafast`],
    ['8192x8192 in MJPEG', 'large.avi', `-f lavfi -i color=s=8192x8192:r=1:d=1 -c:v mjpeg -pix_fmt yuvj420p`],
    ['13 hours', 'hours.mp4', `-f lavfi -i color=s=16x16:r=0.1:d=46800 -c:v libx264 -preset ultrafast`],
    ['1000 frames per second', 'fast.mp4', `-f lavfi -i testsrc=s=64x64:r=1000:d=1 -c:v libx264 -preset ultrafast`],
    ['40 streams', 'many.mkv', `-f lavfi -i testsrc=s=64x64:r=25:d=1 ${'-map 0:v '.repeat(40)} -c:v libx264 -preset ultrafast`],
  ])(
    '%s, with little memory',
    async (_, name, line) => {
      const source = await fixture.make(name, line)
      const started = performance.now()
      await expect(probe(source)).rejects.toMatchObject({ name: 'InvalidSource', code: 4003 })
      expect(performance.now() - started).toBeLessThan(extendTimeout(10_000))
    },
    60_000,
  )
})

test('a damaged file is probed, is rejected, or fails with the kind of its error', async () => {
  const sources = await Promise.all(
    ['mp4', 'mkv', 'ts'].map((kind) => fixture.make(`whole.${kind}`, `${picture('160x120', 25, 1)} ${sound(1)} ${quick}`)),
  )
  let seed = 20_261_121
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
    return seed % below
  }
  for (let round = 0; round < 24; round++) {
    const bytes = Buffer.from(await readFile(sources[round % 3] ?? ''))
    for (let change = 0; change < 1 + random(20); change++) bytes[random(bytes.length)] = random(256)
    const source = join(fixture.folder, `mutant-${round}`)
    const file = await open(source, 'w')
    await file.writeFile(bytes)
    await file.close()
    const outcome = await probe(source).catch((error: unknown) => error)
    if (outcome instanceof Error && !isInvalidSource(outcome) && !isEncodeError(outcome)) throw outcome
  }
}, 120_000)
