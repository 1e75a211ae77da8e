import { expect, test } from '@jest/globals'
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
