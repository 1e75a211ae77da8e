import { expect, test } from '@jest/globals'
import { measureQuality } from './playback-quality.ts'

test('the startup time is from the first play request to the first picture, without counting stalls', () => {
  const meter = measureQuality()
  expect(meter.current(0)).toEqual({})
  meter.requested(100)
  meter.requested(150)
  meter.waiting(160)
  meter.playing(420)
  meter.playing(500)
  expect(meter.current(600)).toEqual({ startup_ms: 320, stalls: 0, stalled_ms: 0 })
})

test('a viewer who stops before the first picture and starts again has a new startup time', () => {
  const meter = measureQuality()
  meter.requested(0)
  meter.stopped(5_000)
  meter.requested(9_000)
  meter.playing(9_200)
  expect(meter.current(9_200)).toMatchObject({ startup_ms: 200 })
})

test('stalls are counted, and each lasts until playback resumes or is stopped', () => {
  const meter = measureQuality()
  meter.requested(0)
  meter.playing(10)
  meter.waiting(1_000)
  meter.waiting(1_100)
  expect(meter.current(1_250)).toMatchObject({ stalls: 1, stalled_ms: 250 })
  meter.playing(1_500)
  meter.waiting(2_000)
  meter.stopped(2_100)
  expect(meter.current(9_000)).toMatchObject({ stalls: 2, stalled_ms: 600 })
})

test('an error is reported, even if nothing was played', () => {
  const meter = measureQuality()
  meter.requested(0)
  meter.failed('media')
  expect(meter.current(10)).toEqual({ error: 'media' })
})
