import { expect, test } from '@jest/globals'
import { NEW_OVERLAY, toOverlayPayload } from './overlay-fields.ts'

test.each([
  ['', '', null],
  ['00:00:05', '00:01:02', { start: '00:05', end: '01:02' }],
  ['1:00:00', '2:10:03', { start: '60:00', end: '130:03' }],
  ['5', '', undefined],
  ['', '5', undefined],
  ['10', '5', undefined],
  ['0', '16:40:00', undefined],
])('the times from %j to %j are sent as %j', (start, end, during) => {
  expect(toOverlayPayload({ ...NEW_OVERLAY, start, end })?.show?.during).toEqual(during)
})
