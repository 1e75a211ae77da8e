import { expect, test } from '@jest/globals'
import { toContribution } from './contribution.ts'
import { addEvent, combineParts, EVENT_TYPE, emptyPart, type ViewEvent, type ViewPart } from './view.ts'

const buildEvent = (overrides: Partial<ViewEvent>): ViewEvent => ({
  ...{ viewId: 'a', videoId: '1', organisationId: '7', type: EVENT_TYPE.progress, atMs: 0, durationMs: 60_000, positionMs: undefined },
  ...{ watched: [], rewatched: [], language: '', subtitle: '', quality: undefined, error: '', client: '' },
  ...overrides,
})
const toPart = (event: ViewEvent): ViewPart => {
  const part = emptyPart(event)
  addEvent(part, event)
  return part
}
const countedAs = (parts: ViewPart[]) => {
  const view = combineParts(parts)
  if (!view) throw new Error('no view')
  const { day, complete, bounced, sharePpm, viewingMs, furthestBucket, heat } = toContribution(view)
  return { day, complete, bounced, sharePpm, viewingMs, furthestBucket, heat: heat?.durationMs }
}

const unknown = toPart(buildEvent({ durationMs: 0, atMs: -1, watched: [0, 20_000] }))
const rest = toPart(buildEvent({ type: EVENT_TYPE.ended, atMs: 40_000, watched: [20_000, 60_000] }))
const seenWhole = { day: '1969-12-31', complete: true, bounced: false, sharePpm: 1e6, viewingMs: 60_000, furthestBucket: 20, heat: 60_000 }

test('a view that began with an unknown duration counts with the later duration, on the day of its first event', () => {
  for (const parts of [
    [unknown, rest],
    [rest, unknown],
  ])
    expect(countedAs(parts)).toEqual(seenWhole)
})

test('events with an unknown or different duration do not change a view of the first duration', () => {
  const deleted = toPart(buildEvent({ durationMs: 0, atMs: 50_000, watched: [59_000, 90_000], positionMs: 90_000 }))
  const longer = toPart(buildEvent({ durationMs: 600_000, atMs: 45_000, watched: [0, 600_000] }))
  expect(countedAs([deleted, longer, rest, unknown])).toEqual(seenWhole)
})

test('a view of unknown duration has a viewing time, but no percentage', () => {
  expect(countedAs([unknown])).toMatchObject({ complete: false, sharePpm: 0, viewingMs: 20_000, heat: undefined })
})
