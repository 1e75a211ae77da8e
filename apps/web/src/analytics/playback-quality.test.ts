import { expect, test } from '@jest/globals'
import { measureQuality } from './playback-quality.ts'

test('the start is from the first wish to the first picture, and waiting meanwhile is no stall', () => {
  const meter = measureQuality()
  expect(meter.figures(0)).toEqual({})
  meter.wished(100)
  meter.wished(150)
  meter.waits(160)
  meter.plays(420)
  meter.plays(500)
  expect(meter.figures(600)).toEqual({ startup_ms: 320, stalls: 0, stalled_ms: 0 })
})

test('who gives up before the first picture has waited for nothing', () => {
  const meter = measureQuality()
  meter.wished(0)
  meter.rests(5_000)
  meter.wished(9_000)
  meter.plays(9_200)
  expect(meter.figures(9_200)).toMatchObject({ startup_ms: 200 })
})

test('stalls are counted and last until it plays or is stopped', () => {
  const meter = measureQuality()
  meter.wished(0)
  meter.plays(10)
  meter.waits(1_000)
  meter.waits(1_100)
  expect(meter.figures(1_250)).toMatchObject({ stalls: 1, stalled_ms: 250 })
  meter.plays(1_500)
  meter.waits(2_000)
  meter.rests(2_100)
  expect(meter.figures(9_000)).toMatchObject({ stalls: 2, stalled_ms: 600 })
})

test('an error is reported, also when nothing ever played', () => {
  const meter = measureQuality()
  meter.wished(0)
  meter.failed('media')
  expect(meter.figures(10)).toEqual({ error: 'media' })
})
