import { expect, test } from '@jest/globals'
import { isTrackingAllowed } from './is-tracking-allowed.ts'
import { createViewId } from './view-id.ts'

test('view ids are unique UUIDs', () => {
  const ids = Array.from({ length: 200 }, createViewId)
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(new Set(ids).size).toBe(200)
})

test.each([
  ['', {}, true],
  ['', { doNotTrack: null }, true],
  ['', { doNotTrack: '0', globalPrivacyControl: false }, true],
  ['', { doNotTrack: '1' }, false],
  ['', { globalPrivacyControl: true }, false],
  ['all', { doNotTrack: '1', globalPrivacyControl: true }, true],
])('with the page setting %p and the browser settings %j, isTrackingAllowed returns %p', (content, browser, isAllowed) => {
  // Minimal page: it implements only `querySelector`.
  const page = { querySelector: () => (content === '' ? null : { getAttribute: () => content }) } as unknown as ParentNode
  expect(isTrackingAllowed(page, browser, '?loop=1')).toBe(isAllowed)
  expect(isTrackingAllowed(page, browser, '?loop=1&events=0')).toBe(false)
})
