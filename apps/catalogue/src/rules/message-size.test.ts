import { expect, test } from '@jest/globals'
import { Video } from '@vitascope/proto/catalogue/v1/video'
import fc from 'fast-check'
import { maxMessageSize } from './message-size.ts'

test('is at least the encoded size of a video, and at most three times the size of its texts more', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 2_000 })
  const video = fc.record({
    videoId: text,
    title: text,
    description: text,
    tags: fc.array(text, { maxLength: 20 }),
    createTime: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2999-01-01T00:00:00Z') }),
    captions: fc.array(fc.record({ captionId: text, title: text, language: text }), { maxLength: 20 }),
  })
  fc.assert(
    fc.property(video, (fields) => {
      const message = Video.fromPartial(fields)
      const bytes = Video.encode(message).finish().length
      expect(maxMessageSize(message)).toBeGreaterThanOrEqual(bytes)
      expect(maxMessageSize(message)).toBeLessThanOrEqual(3 * bytes + 5_000)
    }),
    { numRuns: 200 },
  )
})
