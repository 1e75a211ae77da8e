// Faults: B13
import { expect, test } from '@jest/globals'
import { filterDueOverlays, readOverlays } from './overlay.ts'

const page = 'http://localhost:8080/player/7'

function overlayJson(overrides: Record<string, unknown> = {}) {
  return {
    overlay_id: '1',
    title: 'Shop',
    show: { at_end: '1', during: { start: '00:02', end: '01:05' } },
    link_javascript_code: 'x()',
    ...overrides,
  }
}

test('readOverlays returns an overlay without its JavaScript code', () => {
  const [overlay] = readOverlays([overlayJson({ link_url: 'https://shop.example/a', link_text: 'Buy', width: '320' })], page)
  expect(overlay).toEqual({
    ...{ title: 'Shop', description: '', image: '', linkText: 'Buy', link: 'https://shop.example/a', language: '', width: 320 },
    ...{ atEnd: true, during: { start: 2, end: 65 } },
  })
})

test.each(['javascript:alert(1)', ' JAVASCRIPT:alert(1)', 'data:text/html,x', 'vbscript:x', '/here', '', 'java\nscript:alert(1)'])(
  'the link %p is removed',
  (address) => {
    expect(readOverlays([overlayJson({ link_url: address })], page)[0]?.link).toBe('')
  },
)

test.each([
  ['/delivery/a.png', 'http://localhost:8080/delivery/a.png'],
  ['https://elsewhere.example/a.png', ''],
  ['javascript:alert(1)', ''],
  ['data:image/png;base64,AA', ''],
])('the image path %p becomes %p', (path, image) => {
  expect(readOverlays([overlayJson({ image_path: path })], page)[0]?.image).toBe(image)
})

test.each([null, 'text', { 0: {} }, 5])('%p has no overlays', (json) => {
  expect(readOverlays(json, page)).toEqual([])
})

test('an overlay without valid fields is never shown', () => {
  const overlays = readOverlays([null, 7, { show: 'x' }, { show: { during: { start: '1', end: 'b' } } }], page)
  expect(overlays).toHaveLength(4)
  for (const seconds of [0, 5]) expect(filterDueOverlays(overlays, { seconds, hasEnded: false }, ['en'])).toEqual([])
  expect(filterDueOverlays(overlays, { seconds: 5, hasEnded: true }, ['en'])).toEqual([])
})

test.each([
  [1.9, false, 0],
  [2, false, 1],
  [64.9, false, 1],
  [65, false, 0],
  [70, true, 1],
])('at %p s (ended: %p) the number of shown overlays is %p', (seconds, ended, count) => {
  expect(filterDueOverlays(readOverlays([overlayJson()], page), { seconds, hasEnded: ended }, ['en'])).toHaveLength(count)
})

test('an overlay with the same start and end is shown for 1 s', () => {
  const overlays = readOverlays([overlayJson({ show: { during: { start: '00:05', end: '00:05' } } })], page)
  const countAt = (seconds: number) => filterDueOverlays(overlays, { seconds, hasEnded: false }, []).length
  expect([countAt(4.9), countAt(5), countAt(5.9), countAt(6)]).toEqual([0, 1, 1, 0])
})

test('an overlay with a language is shown only to viewers who read that language', () => {
  const overlays = readOverlays([overlayJson({ language: 'nl' }), overlayJson({ language: 'en-GB' }), overlayJson()], page)
  const dueOverlays = filterDueOverlays(overlays, { seconds: 3, hasEnded: false }, ['en-US', 'de'])
  expect(dueOverlays.map(({ language }) => language)).toEqual(['en-GB', ''])
})
