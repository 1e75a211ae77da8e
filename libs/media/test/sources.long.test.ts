import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { chunkFolder, chunkIndexes, encodeChunk, planEncode, probeSource, setLayout } from '../src/index.ts'
import { flashAndBeep } from './flash-and-beep.ts'
import { type EncodeResult, type MediaFixture, openMediaFixture } from './media-fixtures.ts'
import { type SourceKind, sourceKinds } from './source-kinds.ts'

let fixture: MediaFixture
const table: string[][] = [['source', 'is', 'becomes', 'frames/s', 'seconds', 'sounds', 'kB of all', 'A/V offset', 'VMAF']]

beforeAll(async () => {
  fixture = await openMediaFixture()
})
afterAll(async () => {
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? []
  process.stdout.write(`\n${table.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')).join('\n')}\n`)
  await fixture.close()
})

async function make({ file, steps }: SourceKind): Promise<string> {
  let created = ''
  for (const step of steps) {
    const input = join(fixture.folder, `before-${file.replace(/[^.]*$/, 'mp4')}`)
    if (created !== '') await rename(created, input)
    created = await fixture.make(steps.at(-1) === step ? file : file.replace(/[^.]*$/, 'mp4'), step.replaceAll('IN', input))
  }
  return created
}

/** Returns the VMAF score of the largest rendition; undefined if ffmpeg lacks the filter. */
async function vmaf(source: string, { set, plan }: EncodeResult): Promise<number | undefined> {
  const { stdout } = await fixture.ffmpeg('-filters')
  const largest = plan.renditions.at(-1)
  if (!/ libvmaf /.test(stdout) || !largest?.video) return undefined
  const log = join(fixture.folder, 'vmaf.csv')
  const same = `format=yuv420p,settb=AVTB,setpts=N`
  const graph = `[0:v]${same}[made];[1:v]${same}[source];[made][source]libvmaf=log_fmt=csv:log_path=${log}:n_threads=2`
  const inputs = ['-i', join(set, setLayout.mp4(largest.key)), '-i', source]
  const { stderr } = await fixture.ffmpeg('-loglevel', 'info', ...inputs, '-filter_complex', graph, '-f', 'null', '-')
  return Number(/VMAF score: ([\d.]+)/.exec(stderr)?.[1])
}

test.each(sourceKinds.map((kind) => [kind.name, kind] as const))(
  'a source is encoded with the expected size, rate, duration, sounds and quality: %s',
  async (name, kind) => {
    const source = await make(kind)
    const encoded = await fixture.encode(source)
    const { probe, plan, files } = encoded
    const largest = files.filter((file) => file.kind === 'mp4').at(-1)
    const file = join(encoded.set, setLayout.mp4(largest?.key ?? ''))
    const hasSound = (kind.sounds ?? 1) > 0
    const [before, after] = probe.video && hasSound ? [await flashAndBeep(fixture, source), await flashAndBeep(fixture, file)] : []
    const offset = before && after ? after.soundSeconds - after.pictureSeconds - (before.soundSeconds - before.pictureSeconds) : 0
    const score = kind.isPlain ? await vmaf(source, encoded) : undefined
    const rate = plan.video ? `${plan.video.frameRate.numerator}/${plan.video.frameRate.denominator}` : ''
    table.push([
      name,
      probe.video
        ? `${probe.container} ${probe.video.codec} ${probe.video.width}x${probe.video.height}`
        : `${probe.container} ${probe.audio[0]?.codec}`,
      largest?.width ? `${largest.width}x${largest.height}` : 'sound',
      rate,
      plan.durationSeconds.toFixed(2),
      String(plan.audio?.sounds.length ?? 0),
      String(Math.round(files.reduce((sum, { bytes }) => sum + bytes, 0) / 1000)),
      before ? `${Math.round(offset * 1000)} ms` : '',
      score === undefined ? '' : score.toFixed(1),
    ])
    if (kind.size) expect([largest?.width, largest?.height]).toEqual(kind.size)
    if (kind.rate) expect(rate).toBe(kind.rate)
    expect(plan.audio?.sounds.length ?? 0).toBe(kind.sounds ?? 1)
    expect(Math.abs(plan.durationSeconds - (kind.seconds ?? 4))).toBeLessThanOrEqual(0.2)
    if (plan.video && hasSound) expect(Math.abs(offset)).toBeLessThanOrEqual(0.04)
    if (score !== undefined) expect(score).toBeGreaterThan(85)
    expect(files.filter((each) => each.kind === 'mp4')).toHaveLength(plan.renditions.length)
  },
  600_000,
)

test('a source of twelve hours is split into chunks, and its last chunk is encoded alone', async () => {
  const line =
    '-f lavfi -i color=gray:s=64x64:r=1:d=43199 -f lavfi -i anullsrc=r=8000:cl=mono -t 43199 -c:v libx264 -preset ultrafast -g 10 -c:a aac -b:a 8k'
  const work = { source: await fixture.make('hours.mp4', line), scratch: fixture.scratch('hours'), tools: fixture.tools }
  const plan = planEncode({ probe: await probeSource(work), tools: fixture.tools })
  const last = plan.chunks.at(-1)
  expect(plan.chunks.length).toBeGreaterThan(500)
  expect(plan.chunks.reduce((sum, { frames }) => sum + frames, 0)).toBe(plan.video?.frames)
  expect(JSON.stringify(plan).length).toBeLessThan(500_000)
  expect(chunkIndexes(plan)).toHaveLength(plan.chunks.length + 1)
  await encodeChunk({ ...work, plan, chunkIndex: last?.index ?? 0 })
  const list = join(work.scratch, chunkFolder(last?.index ?? 0), 'h264_100', 'index.m3u8')
  const frames = await fixture.ffprobe(list, '-count_packets', '-show_entries', 'stream=nb_read_packets', '-of', 'csv=p=0')
  expect(Number(frames.trim().split('\n')[0])).toBe(last?.frames)
}, 600_000)
