import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { buildRenditionSet } from '../../../test/builders.ts'
import { createAcceptedStatus, createPlayableStatus, type Status } from '../media/status.ts'
import { applyUpdate, type JobState, type JobUpdate, type MediaState } from './job.ts'

const queued: JobState = { state: 'queued', progress: 5, code: 0, message: '' }
const fresh: MediaState = { status: createAcceptedStatus(false), renditions: undefined, preview: undefined }
const replaced: MediaState = { status: createAcceptedStatus(false), renditions: buildRenditionSet('1'), preview: undefined }
const createStatus = (progress: number): Status => ({ state: 'encoding', progress, code: 2, message: '' })

test('accepted media are in state `encoding`, or in state `waiting` if the job is queued behind others', () => {
  expect(createAcceptedStatus(false)).toEqual({ state: 'encoding', progress: 5, code: 2, message: '' })
  expect(createAcceptedStatus(true)).toEqual({ state: 'waiting', progress: 0, code: 1, message: '' })
})

describe('progress', () => {
  test.each([
    ['increases', 5, 40, 40],
    ['never decreases', 40, 20, 40],
    ['starts at 5', 0, 1, 5],
    ['is at most 99 before the end', 98, 100, 99],
    ['is rounded down', 5, 33.9, 33],
  ])('%s', (_, now, percent, shown) => {
    const { media, job } = applyUpdate({ ...queued, progress: now }, { ...fresh, status: createStatus(now) }, { kind: 'progress', percent })
    expect(media.status).toEqual(createStatus(shown))
    expect(job).toMatchObject({ state: 'running', progress: shown })
  })
  test('changes the state from waiting to encoding', () => {
    expect(applyUpdate(queued, { ...fresh, status: createAcceptedStatus(true) }, { kind: 'progress', percent: 5 }).media.status).toEqual(
      createStatus(5),
    )
  })
})

test('a published set makes the media playable', () => {
  const after = applyUpdate(queued, fresh, { kind: 'published', renditions: buildRenditionSet('9') })
  expect(after.job).toEqual({ state: 'ok', progress: 100, code: 0, message: '' })
  expect(after.media).toEqual({ status: createPlayableStatus(), renditions: buildRenditionSet('9') })
})

describe('a failure', () => {
  const failed: JobUpdate = { kind: 'failed', code: 4001, message: 'the source is unavailable' }
  test('of a first encode is shown with the last progress', () => {
    const { media } = applyUpdate({ ...queued, progress: 42 }, { ...fresh, status: createStatus(42) }, failed)
    expect(media.status).toEqual({ state: 'failed', progress: 42, code: 4001, message: 'the source is unavailable' })
  })
  test('of a replacement keeps the current set, and the job has the reason', () => {
    const after = applyUpdate(queued, replaced, failed)
    expect(after.media).toEqual({ status: createPlayableStatus(), renditions: buildRenditionSet('1'), preview: undefined })
    expect(after.job).toMatchObject({ state: 'failed', code: 4001, message: 'the source is unavailable' })
  })
  test('with an unknown code is recorded as a platform fault', () => {
    expect(applyUpdate(queued, fresh, { ...failed, code: 17 }).job.code).toBe(5000)
  })
  test('that is a cancellation has code 4005', () => {
    const { job, media } = applyUpdate(queued, fresh, { kind: 'cancelled', message: 'cancelled on request' })
    expect(job).toMatchObject({ state: 'cancelled', code: 4005 })
    expect(media.status).toMatchObject({ state: 'failed', code: 4005 })
  })
})

describe('a preview', () => {
  const preview = buildRenditionSet('1', { renditions: [] })
  test('is playable without changing the status, and ends with the job', () => {
    const after = applyUpdate(queued, fresh, { kind: 'playable', preview })
    expect([after.job.state, after.media]).toEqual(['running', { ...fresh, preview }])
    const { media } = applyUpdate(after.job, after.media, { kind: 'progress', percent: 40 })
    expect([media.preview, media.status.progress]).toEqual([preview, 40])
    expect(applyUpdate(after.job, media, { kind: 'failed', code: 5002, message: '' }).media.preview).toBeUndefined()
    expect(applyUpdate(after.job, media, { kind: 'published', renditions: buildRenditionSet('1') }).media).toMatchObject({
      preview: undefined,
      renditions: buildRenditionSet('1'),
    })
  })
  test('of a replacement is ignored', () => {
    expect(applyUpdate(queued, replaced, { kind: 'playable', preview }).media).toEqual(replaced)
  })
})

test('for any updates, the status is valid and the progress of a job never decreases', () => {
  const update = fc.oneof(
    fc.record({ kind: fc.constant('progress' as const), percent: fc.integer() }),
    fc.record({ kind: fc.constant('failed' as const), code: fc.integer(), message: fc.string() }),
    fc.constant({ kind: 'playable' as const, preview: buildRenditionSet('9', { renditions: [] }) }),
    fc.constant({ kind: 'published' as const, renditions: buildRenditionSet('9') }),
    fc.constant({ kind: 'cancelled' as const, message: '' }),
  )
  fc.assert(
    fc.property(fc.boolean(), fc.boolean(), fc.array(update, { maxLength: 20 }), (waits, plays, all) => {
      let job = queued
      let media: MediaState = {
        status: createAcceptedStatus(waits),
        renditions: plays ? buildRenditionSet('1') : undefined,
        preview: undefined,
      }
      for (const one of all) {
        const after = applyUpdate(job, media, one)
        expect(after.job.progress).toBeGreaterThanOrEqual(job.progress)
        expect(after.media.status.progress).toBeGreaterThanOrEqual(after.media.status.state === 'failed' ? 0 : media.status.progress)
        const { state, progress, code } = after.media.status
        if (state === 'encoding') expect([progress >= 5 && progress <= 99, code]).toEqual([true, 2])
        else if (state === 'ok') expect([progress, code]).toEqual([100, 2000])
        else expect([state, Math.floor(code / 1000) === 4 || Math.floor(code / 1000) === 5]).toEqual(['failed', true])
        expect(after.media.preview === undefined || (one.kind !== 'published' && !after.media.renditions)).toBe(true)
        if (one.kind !== 'progress' && one.kind !== 'playable') return
        job = after.job
        media = after.media
      }
    }),
    { numRuns: 300 },
  )
})
