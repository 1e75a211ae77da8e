import { expect, test } from '@jest/globals'
import type { EncodePlan } from '@vitascope/media'
import { chunkScratchBytes, packageScratchBytes } from './task-resources.ts'

/** A plan of an hour of video at 1,000 and 3,000 kbit/s, and of audio at 100 kbit/s. */
function buildPlan(chunks: number): EncodePlan {
  const frames = 90_000
  const plan: Pick<EncodePlan, 'durationSeconds' | 'renditions' | 'chunks' | 'audio'> & { video: { frames: number } } = {
    durationSeconds: 3600,
    video: { frames },
    chunks: Array.from({ length: chunks }, (_, index) => ({
      index,
      startFrame: (index * frames) / chunks,
      frames: frames / chunks,
      startSeconds: 0,
      firstSegment: 0,
      expectedCpuSeconds: 1,
    })),
    renditions: [1_000, 3_000].map((kbps) => ({
      key: `h264_${kbps}`,
      label: kbps,
      video: { width: 2, height: 2, kbps, profile: 'high' },
      audioKey: 'audio_100',
    })),
    audio: { sounds: [], tracks: [{ key: 'audio_100', group: 'audio_100', sound: 0, kbps: 100 }], expectedCpuSeconds: 1 },
  }
  return plan as EncodePlan
}

test('a chunk reserves twice its planned size, and a long chunk at most its upload backlog', () => {
  // 4,000 kbit/s are 500,000 bytes per second.
  expect(chunkScratchBytes(buildPlan(10), 3)).toBe(2 * 500_000 * 360)
  expect(chunkScratchBytes(buildPlan(1), 0)).toBe(2 ** 30)
  expect(chunkScratchBytes(buildPlan(10), 10)).toBe(2 * 12_500 * 3600)
})

test('packaging reserves all segments, the files of renditions and audio, and images', () => {
  const files = ['h264_1000/a', 'h264_1000/b', 'h264_3000/a', 'audio_100/a'].map((path) => ({ path, bytes: 1_000, sha256: '' }))
  expect(packageScratchBytes(buildPlan(2), files)).toBe(1.1 * 4_000 + (2_000 + 1_000) + (1_000 + 1_000) + 1_000)
})
