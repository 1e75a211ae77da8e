import { expect, test } from '@jest/globals'
import { createQualityMeter } from './playback-quality.ts'

test('the startup time is from the first play request to the first picture, without counting stalls', () => {
  const meter = createQualityMeter()
  expect(meter.getQuality(0)).toEqual({})
  meter.onRequest(100)
  meter.onRequest(150)
  meter.onWaiting(160)
  meter.onPlaying(420)
  meter.onPlaying(500)
  expect(meter.getQuality(600)).toEqual({ startup_ms: 320, stalls: 0, stalled_ms: 0, switches: 0 })
})

test('a viewer who stops before the first picture and starts again has a new startup time', () => {
  const meter = createQualityMeter()
  meter.onRequest(0)
  meter.onStop(5_000)
  meter.onRequest(9_000)
  meter.onPlaying(9_200)
  expect(meter.getQuality(9_200)).toMatchObject({ startup_ms: 200 })
})

test('stalls are counted, and each lasts until playback resumes or is stopped', () => {
  const meter = createQualityMeter()
  meter.onRequest(0)
  meter.onPlaying(10)
  meter.onWaiting(1_000)
  meter.onWaiting(1_100)
  expect(meter.getQuality(1_250)).toMatchObject({ stalls: 1, stalled_ms: 250 })
  meter.onPlaying(1_500)
  meter.onWaiting(2_000)
  meter.onStop(2_100)
  expect(meter.getQuality(9_000)).toMatchObject({ stalls: 2, stalled_ms: 600 })
})

test('rendition switches are counted', () => {
  const meter = createQualityMeter()
  meter.onRequest(0)
  meter.onPlaying(10)
  meter.onSwitch()
  meter.onSwitch()
  expect(meter.getQuality(20)).toMatchObject({ switches: 2 })
})

test('an error is reported, even if nothing was played', () => {
  const meter = createQualityMeter()
  meter.onRequest(0)
  meter.onFailure('media')
  expect(meter.getQuality(10)).toEqual({ error: 'media' })
})
