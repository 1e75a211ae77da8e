import { describe, expect, test } from '@jest/globals'
import { CHANGEABLE, type Clip, type ClipFields, checkClip, mergeClip, orderClips } from './clip.ts'

const seconds = { timeStartMillis: 0, timeFinishMillis: 0 }
const good: ClipFields = {
  title: '',
  comments: '',
  timeStart: 3,
  timeFinish: 7,
  ...seconds,
  type: 'video',
  preview: false,
  resolved: false,
}
const all = new Set(CHANGEABLE)
const toInvalidFieldsError = (...fields: string[]) =>
  expect.objectContaining({ kind: 'invalid', fields: fields.map((field) => expect.objectContaining({ field })) })

describe('a clip', () => {
  test.each([
    ['title', 255],
    ['comments', 2_000],
    ['type', 50],
  ] as const)('has a %s of at most %i characters', (field, most) => {
    for (const length of [most - 1, most]) expect(checkClip({ ...good, [field]: '🎬'.repeat(length) }, all, 10)).toBeDefined()
    expect(() => checkClip({ ...good, [field]: 'x'.repeat(most + 1) }, all, 10)).toThrow(toInvalidFieldsError(field))
    expect(() => checkClip({ ...good, [field]: 'a\0' }, all, 10)).toThrow(toInvalidFieldsError(field))
    expect(() => checkClip({ ...good, [field]: '\ud800' }, all, 10)).toThrow(toInvalidFieldsError(field))
  })
  test('must have a type that is not blank, and every invalid field is reported', () => {
    expect(() => checkClip({ ...good, type: ' ', title: 'x'.repeat(256), timeStart: -1 }, all, 10)).toThrow(
      toInvalidFieldsError('title', 'type', 'time_start'),
    )
  })
})

describe('the times of a clip', () => {
  test.each([
    [0, 0, 10],
    [0, 10, 10],
    [10, 10, 10],
    [0, 12, 12.48],
    [0, 2_147_483_647, undefined],
  ])('may be %i to %i in a video of %p seconds', (timeStart, timeFinish, duration) => {
    expect(checkClip({ ...good, timeStart, timeFinish }, all, duration)).toBeDefined()
  })
  test.each([
    [0, 11, 10, 'time_finish'],
    [0, 13, 12.48, 'time_finish'],
    [0, 1, 0, 'time_finish'],
    [5, 4, undefined, 'time_finish'],
    [-1, 4, 10, 'time_start'],
    [0.5, 4, 10, 'time_start'],
    [0, 2_147_483_648, undefined, 'time_finish'],
    [0, Number.NaN, undefined, 'time_finish'],
  ])('must not be %p to %p in a video of %p seconds', (timeStart, timeFinish, duration, field) => {
    expect(() => checkClip({ ...good, timeStart, timeFinish }, all, duration)).toThrow(toInvalidFieldsError(field))
  })
  test('are compared with their milliseconds', () => {
    const times = { timeStart: 3, timeStartMillis: 480, timeFinish: 3, timeFinishMillis: 480 }
    expect(checkClip({ ...good, ...times }, all, 3.48)).toMatchObject(times)
    expect(() => checkClip({ ...good, ...times, timeFinishMillis: 479 }, all, 10)).toThrow(toInvalidFieldsError('time_finish'))
    expect(() => checkClip({ ...good, ...times }, all, 3.479)).toThrow(toInvalidFieldsError('time_finish'))
    expect(() => checkClip({ ...good, timeStartMillis: 1_000, timeFinishMillis: -1 }, all, 10)).toThrow(
      toInvalidFieldsError('time_start_millis', 'time_finish_millis'),
    )
    expect(() => checkClip({ ...good, ...times, timeFinishMillis: 0 }, new Set(['time_start_millis']), 10)).toThrow(
      toInvalidFieldsError('time_start'),
    )
  })
  test('are validated only when one of them changes, and the error names the changed one', () => {
    expect(checkClip(good, new Set(['title']), 1)).toBe(good)
    expect(() => checkClip(good, new Set(['time_start']), 1)).toThrow(toInvalidFieldsError('time_start'))
    expect(() => checkClip({ ...good, timeStart: 8 }, new Set(['time_start']), 10)).toThrow(toInvalidFieldsError('time_start'))
  })
})

test('an update changes the fields in its mask only', () => {
  const input: ClipFields = {
    title: 'T',
    comments: 'C',
    timeStart: 1,
    timeFinish: 2,
    timeStartMillis: 20,
    timeFinishMillis: 40,
    type: 'audio',
    preview: true,
    resolved: true,
  }
  expect(mergeClip(good, input, all)).toEqual(input)
  expect(mergeClip(good, input, new Set(['title', 'time_finish']))).toEqual({ ...good, title: 'T', timeFinish: 2 })
  expect(mergeClip(good, input, new Set())).toEqual(good)
  expect(mergeClip(input, good, new Set(['time_start']))).toEqual({ ...input, timeStart: 3, timeStartMillis: 0 })
  expect(mergeClip(good, input, new Set(['time_finish', 'time_finish_millis']))).toEqual({ ...good, timeFinish: 2, timeFinishMillis: 40 })
})

describe('an order', () => {
  const clips = ['1', '2', '3'].map(
    (clipId, position): Clip => ({ ...good, clipId, collaborationId: '9', position, createTime: new Date(0) }),
  )
  test('sets the position of each clip', () => {
    expect(orderClips(clips, ['3', '1', '2']).map(({ clipId, position }) => [clipId, position])).toEqual([
      ['3', 0],
      ['1', 1],
      ['2', 2],
    ])
    expect(orderClips([], [])).toEqual([])
  })
  test.each([[[]], [['1', '2']], [['1', '2', '2']], [['1', '2', '3', '3']], [['1', '2', '4']], [['1', '2', '3', '4']]])(
    'cannot be %j',
    (clipIds) => {
      expect(() => orderClips(clips, clipIds)).toThrow(toInvalidFieldsError('clip_ids'))
    },
  )
})
