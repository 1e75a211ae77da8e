// Faults: C8
import { expect, test } from '@jest/globals'
import { createProgress, progressLines } from './progress.ts'

test('only a report with more frames or bytes counts as progress', () => {
  const frames: number[] = []
  const line = progressLines((report) => frames.push(report.frame))
  const sendReport = (frame: number, size: string) =>
    [`frame=${frame}`, `total_size=${size}`, 'out_time_us=N/A', 'progress=continue'].map(line).at(-1)
  expect([
    sendReport(0, 'N/A'),
    sendReport(5, 'N/A'),
    sendReport(5, 'N/A'),
    sendReport(5, '900'),
    sendReport(4, '900'),
    sendReport(9, '900'),
  ]).toEqual([false, true, false, true, false, true])
  expect(frames).toEqual([5, 5, 9])
})

test('the percentage rises from 6 to 99, never falls, and each value is reported once', () => {
  const percentages: number[] = []
  const progress = createProgress({ frames: 100, seconds: 4 }, (percent) => percentages.push(percent))
  for (const frame of [0, 10, 10, 8, 50, 100, 130, 20]) progress.encoding({ frame, seconds: 0 })
  progress.packaging()
  progress.encoding({ frame: 100, seconds: 4 })
  progress.verifying()
  progress.verified()
  progress.verified()
  expect(percentages).toEqual([6, 15, 51, 96, 97, 98, 99])
})

test('the progress of audio-only sources depends on the time', () => {
  const percentages: number[] = []
  const progress = createProgress({ frames: 0, seconds: 10 }, (percent) => percentages.push(percent))
  progress.encoding({ frame: 0, seconds: 5 })
  expect(percentages).toEqual([51])
})
