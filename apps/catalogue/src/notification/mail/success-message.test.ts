import { expect, test } from '@jest/globals'
import { isPlainAddress, parseSender } from './mail-address.ts'
import { createSuccessMessage } from './success-message.ts'

const playerUrl = 'https://videos.example/player/7'

test('a long title is truncated in the subject only', () => {
  const title = '𝔸'.repeat(200)
  const { subject, text } = createSuccessMessage({ title, name: '', playerUrl })
  expect(subject).toBe(`Your video is ready: ${'𝔸'.repeat(120)}…`)
  expect(text).toContain(`Hello,\n\nyour video “${title}”`)
})

test('HTML in a title or a name is escaped', () => {
  const { html } = createSuccessMessage({ title: `"><img src=x onerror='a'>&amp;`, name: '<i>Uma</i>', playerUrl })
  expect(html).not.toMatch(/<img|<i>|'a'|&amp;&amp;/)
  expect(html).toContain('&quot;&gt;&lt;img src=x onerror=&#39;a&#39;&gt;&amp;amp;')
})

test.each([
  ['Vitascope <no-reply@example.org>', { email: 'no-reply@example.org', name: 'Vitascope' }],
  ['no-reply@localhost', { email: 'no-reply@localhost', name: '' }],
  [' <a@b> ', { email: 'a@b', name: '' }],
  ['a@b, c@d', undefined],
  ['A <a@b> <c@d>', undefined],
  ['A <a@b>\r\nBcc: <c@d>', undefined],
  ['nobody', undefined],
])('parses %j as a sender', (text, expected) => {
  expect(parseSender(text)).toEqual(expected)
})

test.each(['a b@c', 'a@b@c', '<a@b>', 'a@b\n', 'a@b,c@d', '"a"@b', `${'a'.repeat(253)}@b`])('%j is not a plain address', (text) => {
  expect(isPlainAddress(text)).toBe(false)
})
