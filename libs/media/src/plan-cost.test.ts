// Faults: R3
import { expect, test } from '@jest/globals'
import { planEncode } from './plan.ts'
import type { SourceProbe } from './source-probe.ts'

const buildProbe = (width: number, height: number, seconds: number): SourceProbe => ({
  container: 'mp4',
  demuxer: 'mov',
  durationSeconds: seconds,
  bitrate: 100_000,
  streams: 1,
  video: {
    index: 0,
    codec: 'h264',
    width,
    height,
    rotation: 0,
    frameRate: { numerator: 30, denominator: 1 },
    variableRate: false,
    pixelFormat: 'yuv420p',
    bitDepth: 8,
    interlaced: false,
    transfer: 'bt709',
    declaresColours: true,
    fullRange: false,
    endSeconds: seconds,
    keySeconds: 2,
  },
  audio: [],
})
const planSource = (width: number, height: number, seconds: number) =>
  planEncode({ probe: buildProbe(width, height, seconds), tools: { version: '7.0', toneMap: false } })

test('the planned work of a tiny video depends on its frames: ten hours of 16x16 pixels take minutes of processor time', () => {
  const { expectedCpuSeconds, chunks } = planSource(16, 16, 36_000)
  expect(expectedCpuSeconds).toBeGreaterThan(200)
  expect(expectedCpuSeconds).toBeLessThan(600)
  const sum = chunks.reduce((seconds, chunk) => seconds + chunk.expectedCpuSeconds, 0)
  expect(Math.abs(sum - expectedCpuSeconds)).toBeLessThan(3)
})

test('the planned work of a large video depends on its pixels', () => {
  const [small, large] = [planSource(640, 360, 60), planSource(1920, 1080, 60)]
  expect(large.expectedCpuSeconds / small.expectedCpuSeconds).toBeGreaterThan(3)
})
