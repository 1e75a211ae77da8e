import { describe, expect, test } from '@jest/globals'
import { type EncodePlan, type PlannedRendition, planEncode, planVersion, type SourceProbe } from '@vitascope/media'
import { CompleteTaskRequest, type EncodeInput, type ProbeResult, Task, TaskKind } from '@vitascope/proto/encoding/v1/work'
import fc from 'fast-check'
import { toPlanMessage, toProbeMessage } from './plan-message.ts'
import type { PackageInput, TaskInput, TaskResult } from './task.ts'
import { readFilesResult, readInputMessage, readProbeResult, toInputMessage, toResultMessage } from './task-message.ts'

/** Limit of libs/grpc for one message. */
const MAX_MESSAGE_BYTES = 4 * 2 ** 20

describe('inputs', () => {
  test('every input is the same after it was sent', () => {
    fc.assert(
      fc.property(taskInput, (input) => {
        expect(readInputMessage(roundTrip(input).input)).toStrictEqual(input)
      }),
    )
  })

  test('a missing input, or one without its plan, source or frame rate, is malformed', () => {
    const plan = toPlanMessage(buildPlan(12))
    const { video } = plan
    if (!video) throw new Error('the plan has a picture')
    const encode = (overrides: Partial<EncodeInput>): Task['input'] => {
      return { $case: 'encode', value: { source, plan, chunk: 0, workPrefix: 'work/1/2', ...overrides } }
    }
    const malformed: [string, Task['input']][] = [
      ['input', undefined],
      ['input.plan', encode({ plan: undefined })],
      ['input.source', encode({ source: undefined })],
      ['plan.video.frame_rate', encode({ plan: { ...plan, video: { ...video, frameRate: undefined } } })],
      ['plan.images.key', encode({ plan: { ...plan, images: [{ key: 'IMAGE_KEY_UNSPECIFIED', atSeconds: 1, shortSide: 2 }] } })],
    ]
    expect(readInputMessage(encode({}))).toMatchObject({ kind: 'encode' })
    for (const [field, message] of malformed) expect(() => readInputMessage(message)).toThrow(expect.objectContaining({ field }))
  })

  test('the plan of the longest and most expensive source, with all its chunks, fits one message', () => {
    const plan = buildPlan(12 * 3600, { width: 8192, height: 4320 })
    expect(plan.chunks.length).toBeGreaterThan(3_000)
    const prefix = `work/${'9'.repeat(18)}/${'9'.repeat(16)}`
    const chunks = Array.from({ length: plan.chunks.length + 1 }, (_, chunk) => ({ chunk, prefix, list: `${prefix}/files.json` }))
    const input: PackageInput = { kind: 'package', plan, chunks, setPrefix: prefix, workPrefix: prefix }
    expect(Task.encode(task(input)).finish().length).toBeLessThan(MAX_MESSAGE_BYTES / 2)
  })
})

describe('results', () => {
  test('every result is the same after it was sent', () => {
    fc.assert(
      fc.property(taskResult, (result) => {
        const request = { taskId: '1', fence: 2, result: toResultMessage(result) }
        const message = CompleteTaskRequest.decode(CompleteTaskRequest.encode(request).finish()).result
        const read = result.kind === 'probe' ? readProbeResult(message) : readFilesResult(message)
        expect(read).toStrictEqual(result)
      }),
    )
  })

  test('a result of another kind, or with a missing or invalid field, is malformed', () => {
    const probe = toProbeMessage(buildProbe(12))
    const build = { version: '9.0', toneMap: true, codecs: ['PICTURE_CODEC_H264' as const] }
    const result = (overrides: Partial<ProbeResult>): CompleteTaskRequest['result'] => ({
      $case: 'probe',
      value: { probe, build, ...overrides },
    })
    const malformed: [string, CompleteTaskRequest['result']][] = [
      ['probe', undefined],
      ['probe', { $case: 'files', value: { list: { bytes: 1, sha256: '' } } }],
      ['probe.probe', result({ probe: undefined })],
      ['probe.build', result({ build: undefined })],
      ['probe.build.codecs', result({ build: { ...build, codecs: ['UNRECOGNIZED'] } })],
      ['probe.duration_seconds', result({ probe: { ...probe, durationSeconds: Number.NaN } })],
      ['probe.duration_seconds', result({ probe: { ...probe, durationSeconds: 0 } })],
    ]
    expect(readProbeResult(result({}))).toMatchObject({ kind: 'probe' })
    for (const [field, message] of malformed) expect(() => readProbeResult(message)).toThrow(expect.objectContaining({ field }))
    expect(() => readFilesResult(result({}))).toThrow(expect.objectContaining({ field: 'files' }))
    const empty = { $case: 'files', value: { list: undefined } } as const
    expect(() => readFilesResult(empty)).toThrow(expect.objectContaining({ field: 'files.list' }))
  })
})

const source = { object: 'source/1/2/source', bytes: 1, sha256: '' }
const kinds = {
  probe: TaskKind.TASK_KIND_PROBE,
  encode: TaskKind.TASK_KIND_ENCODE,
  package: TaskKind.TASK_KIND_PACKAGE,
  slides: TaskKind.TASK_KIND_SLIDES,
  poster: TaskKind.TASK_KIND_POSTER,
} as const

function task(input: TaskInput): Task {
  return { taskId: '1', fence: 2, jobId: '3', kind: kinds[input.kind], input: toInputMessage(input), traceparent: '' }
}

function roundTrip(input: TaskInput): Task {
  return Task.decode(Task.encode(task(input)).finish())
}

function buildProbe(durationSeconds: number, size = { width: 1280, height: 720 }): SourceProbe {
  return {
    ...{ container: 'mp4', demuxer: 'mov', durationSeconds, bitrate: 5_000_000, streams: 2, audio: [] },
    video: {
      ...{ index: 0, codec: 'h264', ...size, rotation: 0, frameRate: { numerator: 60, denominator: 1 }, variableRate: false },
      ...{ pixelFormat: 'yuv420p', bitDepth: 8, interlaced: false, fullRange: false, transfer: 'bt709', declaresColours: true },
      ...{ endSeconds: durationSeconds, keySeconds: 2 },
    },
  }
}

function buildPlan(durationSeconds: number, size?: { width: number; height: number }): EncodePlan {
  return planEncode({ probe: buildProbe(durationSeconds, size), tools: { version: 'n7.0', toneMap: true } })
}

// `-0` is not distinguished from `0` in messages.
const seconds = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }).map((value) => value + 0)
const text = fc.string({ maxLength: 40, unit: 'grapheme' })
const count = fc.integer({ min: 0, max: 2 ** 31 - 1 })
const bytes = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
const rational = record({ numerator: count, denominator: count })
const positive = seconds.filter((value) => value > 0)

const storedSource = record({ object: text, bytes, sha256: text })

const plannedRendition: fc.Arbitrary<PlannedRendition> = optional(
  { key: text, label: count },
  {
    audioKey: text,
    video: optional(
      { width: count, height: count, kbps: fc.integer({ min: -1_000, max: 100_000 }), profile: fc.constantFrom('baseline', 'high') },
      { codec: fc.constantFrom('hevc', 'av1'), copied: record({ timeBase: rational }) },
    ),
  },
)

const anyPlan: fc.Arbitrary<EncodePlan> = optional(
  {
    planVersion: fc.constant(planVersion),
    ffmpegVersion: text,
    demuxer: text,
    durationSeconds: seconds,
    segmentSeconds: seconds,
    chunks: fc.array(
      record({
        index: count,
        startFrame: count,
        frames: count,
        startSeconds: seconds,
        firstSegment: count,
        expectedCpuSeconds: seconds,
      }),
      { maxLength: 3 },
    ),
    renditions: fc.array(plannedRendition, { maxLength: 3 }),
    images: fc.array(
      record({
        key: fc.constantFrom('poster', 'thumbnail', 'thumb-25', 'thumb-50', 'thumb-75'),
        atSeconds: seconds,
        shortSide: count,
      }),
      { maxLength: 3 },
    ),
    maxPixels: bytes,
    expectedCpuSeconds: seconds,
  },
  {
    video: record({
      streamIndex: count,
      frameRate: rational,
      frames: count,
      sourceFrames: count,
      groupFrames: count,
      keySeconds: seconds,
      holdSeconds: seconds,
      deinterlace: fc.boolean(),
      limitRange: fc.boolean(),
      toneMap: fc.boolean(),
      assumeColours: fc.boolean(),
    }),
    audio: record({
      sounds: fc.array(record({ streamIndex: count, channels: count, language: text, name: text, silenceSeconds: seconds }), {
        maxLength: 3,
      }),
      tracks: fc.array(record({ key: text, group: text, sound: count, kbps: count }), { maxLength: 3 }),
      expectedCpuSeconds: seconds,
    }),
  },
)

const anyProbe: fc.Arbitrary<SourceProbe> = optional(
  {
    container: text,
    demuxer: text,
    durationSeconds: positive,
    bitrate: bytes,
    streams: count,
    audio: fc.array(
      record({
        index: count,
        codec: text,
        channels: count,
        sampleRate: count,
        language: text,
        title: text,
        isDefault: fc.boolean(),
        endSeconds: seconds,
      }),
      { maxLength: 3 },
    ),
  },
  {
    video: optional(
      {
        index: count,
        codec: text,
        width: count,
        height: count,
        rotation: fc.constantFrom(0, 90, 180, 270),
        frameRate: rational,
        variableRate: fc.boolean(),
        pixelFormat: text,
        bitDepth: count,
        interlaced: fc.boolean(),
        fullRange: fc.boolean(),
        transfer: text,
        declaresColours: fc.boolean(),
        endSeconds: seconds,
      },
      { keySeconds: positive, copy: record({ frames: count, kbps: count, timeBase: rational }) },
    ),
  },
)

const taskInput: fc.Arbitrary<TaskInput> = fc.oneof(
  record({ kind: fc.constant('probe' as const), source: storedSource, maxSeconds: seconds }),
  record({ kind: fc.constant('encode' as const), source: storedSource, plan: anyPlan, chunk: count, workPrefix: text }),
  record({
    kind: fc.constant('package' as const),
    plan: anyPlan,
    chunks: fc.array(record({ chunk: count, prefix: text, list: text }), { maxLength: 3 }),
    setPrefix: text,
    workPrefix: text,
  }),
  record({ kind: fc.constant('slides' as const), source: storedSource, setPrefix: text, workPrefix: text }),
  record({
    kind: fc.constant('poster' as const),
    source: storedSource,
    atSeconds: fc.option(seconds, { nil: undefined }),
    setPrefix: text,
    workPrefix: text,
  }),
)

const taskResult: fc.Arbitrary<TaskResult> = fc.oneof(
  record({
    kind: fc.constant('probe' as const),
    probe: anyProbe,
    build: record({ version: text, toneMap: fc.boolean(), codecs: fc.subarray(['h264' as const, 'hevc' as const, 'av1' as const]) }),
  }),
  record({ kind: fc.constant('files' as const), list: record({ bytes, sha256: text }) }),
)

function record<All>(fields: { [Key in keyof All]: fc.Arbitrary<All[Key]> }): fc.Arbitrary<All> {
  return fc.record(fields, { noNullPrototype: true })
}

/** Returns objects with all of the first fields and any of the others. */
function optional<All extends object, Some extends object>(
  all: { [Key in keyof All]: fc.Arbitrary<All[Key]> },
  some: { [Key in keyof Some]: fc.Arbitrary<Some[Key]> },
): fc.Arbitrary<All & Partial<Some>> {
  const record = fc.record({ ...all, ...some }, { requiredKeys: Object.keys(all) as never, noNullPrototype: true })
  // The type of `requiredKeys` cannot be inferred for generic fields.
  return record as fc.Arbitrary<All & Partial<Some>>
}
