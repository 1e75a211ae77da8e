import { describe, expect, test } from '@jest/globals'
import { mergePresentation, type Presentation, toPublicView, toStatus } from './presentation.ts'
import { applySlideUpdate, initialState, type SlideUpdate } from './slide-job.ts'

const page = { path: 'slide-0001.jpg', thumbnailPath: 'thumb-0001.jpg', width: 1920, height: 1080 }

function createPresentation(seconds: (number | undefined)[] = [], more: Partial<Presentation> = {}): Presentation {
  return {
    presentationId: '10',
    organisationId: '1',
    userId: '7',
    videoId: '',
    title: 'Launch',
    description: '',
    filename: 'launch.pdf',
    processing: { state: 'ready', progress: 100, code: 0, reason: '' },
    slides: seconds.map((at) => ({ version: 'v1', ...page, seconds: at })),
    document: { version: 'v1', path: 'document.pdf' },
    createTime: new Date(0),
    ...more,
  }
}

describe('the status', () => {
  test.each([
    [createPresentation([]), { state: 'awaiting_timings', progress: 99, code: 1999, reason: '' }],
    [createPresentation([0, undefined]), { state: 'awaiting_timings', progress: 99, code: 1999, reason: '' }],
    [createPresentation([0, 12]), { state: 'ok', progress: 100, code: 2000, reason: '' }],
    [createPresentation([0, 12], { processing: initialState() }), { state: 'processing', progress: 5, code: 2, reason: '' }],
    [
      createPresentation([], { processing: { state: 'failed', progress: 40, code: 4002, reason: 'no' } }),
      { state: 'failed', progress: 40, code: 4002, reason: 'no' },
    ],
    [
      createPresentation([0], { processing: { state: 'ready', progress: 40, code: 4002, reason: 'no' } }),
      { state: 'ok', progress: 100, code: 2000, reason: 'no' },
    ],
  ])('follows from the files and the timings (%#)', (presentation, status) => {
    expect(toStatus(presentation)).toEqual(status)
  })
  test('hides the reason of a failure from other organisations', () => {
    const failed = createPresentation([], {
      processing: { state: 'failed', progress: 5, code: 4002, reason: 'it is protected by a password' },
    })
    expect(toStatus(toPublicView(failed))).toEqual({ state: 'failed', progress: 5, code: 4002, reason: '' })
  })
})

describe('a change', () => {
  const current = createPresentation([undefined, 5, 9])
  const input = { organisationId: '2', userId: '8', videoId: '9', title: 'New', description: 'd' }

  test('sets only the named fields and the seconds of the named slides', () => {
    const changed = mergePresentation(
      current,
      input,
      ['title', 'video_id'],
      [
        { slide: 1, seconds: 0 },
        { slide: 3, seconds: undefined },
      ],
    )
    expect(changed).toMatchObject({ title: 'New', videoId: '9', description: '', organisationId: '1', userId: '7' })
    expect(changed.slides.map(({ seconds }) => seconds)).toEqual([0, 5, undefined])
    expect(current.slides.map(({ seconds }) => seconds)).toEqual([undefined, 5, 9])
  })
  test('accepts existing slides and 0 to 604,800 seconds only', () => {
    const merge = (slide: number, seconds: number) => () => mergePresentation(current, input, [], [{ slide, seconds }])
    for (const seconds of [0, 1, 604_799, 604_800]) expect(merge(3, seconds)).not.toThrow()
    for (const seconds of [-1, 604_801, 1.5, Number.NaN]) expect(merge(3, seconds)).toThrow(expect.objectContaining({ kind: 'invalid' }))
    for (const slide of [0, 4, -1, 1.5]) expect(merge(slide, 1)).toThrow(expect.objectContaining({ kind: 'invalid' }))
  })
  test('reports every invalid field at once', () => {
    const invalid = { ...input, title: '', description: 'x'.repeat(5_001), userId: 'x', videoId: '-1' }
    const mask = ['title', 'description', 'user_id', 'video_id', 'state']
    const fields = ['update_mask', 'title', 'description', 'user_id', 'video_id', 'slides.4']
    expect(() => mergePresentation(current, invalid, mask, [{ slide: 4, seconds: 1 }])).toThrow(
      expect.objectContaining({ fields: fields.map((field) => expect.objectContaining({ field })) }),
    )
  })
})

describe('updates', () => {
  const set = (pages: number) => ({
    jobId: '3',
    prefix: 'slides/10/3-1',
    slides: Array(pages).fill(page),
    documentPath: 'document.pdf',
    bytes: 1,
  })
  const failed: SlideUpdate = { kind: 'failed', code: 4002, message: 'not a PDF' }

  test('of progress stay between 5 and 98 and never decrease', () => {
    const after = (percent: number, progress = 5) =>
      applySlideUpdate({ ...initialState(), progress }, 0, { kind: 'progress', percent }).processing.progress
    expect([after(0), after(42.9), after(100), after(Number.NaN), after(20, 60)]).toEqual([5, 42, 98, 5, 60])
  })
  test('with slides make the presentation ready, up to 1,000 slides', () => {
    expect(applySlideUpdate(initialState(), 999, { kind: 'slides', set: set(1) })).toMatchObject({
      state: 'ok',
      processing: { state: 'ready' },
    })
    expect(applySlideUpdate(initialState(), 1_000, { kind: 'slides', set: set(1) })).toMatchObject({
      state: 'failed',
      processing: { state: 'ready', code: 4002, reason: expect.stringContaining('1000') },
      newSlides: undefined,
    })
  })
  test('of a failure make the presentation fail, unless it already has slides', () => {
    expect(applySlideUpdate({ ...initialState(), progress: 40 }, 0, failed).processing).toEqual({
      state: 'failed',
      progress: 40,
      code: 4002,
      reason: 'not a PDF',
    })
    expect(applySlideUpdate(initialState(), 1, failed).processing.state).toBe('ready')
  })
})
