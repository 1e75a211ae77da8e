import { expect, test } from '@jest/globals'
import { checkSourceUrl, toFilename } from './source.ts'

test.each([
  ['https://example.org/a/launch.mp4?x=1#y', 'launch.mp4'],
  ['https://example.org/My%20film%20%C3%A9.mov', 'My film é.mov'],
  ['https://example.org/bad%E0%A4%A.mp4', 'bad%E0%A4%A.mp4'],
  ['https://example.org/', 'video'],
  ['https://example.org/folder/', 'video'],
  ['https://example.org/%00%0a.mp4', '.mp4'],
  ['https://example.org/%20', 'video'],
  ['https://example.org/..%2f..%2fetc%2fpasswd', 'passwd'],
  [`https://example.org/${'x'.repeat(400)}`, 'x'.repeat(255)],
])('the name of %s is %s', (url, name) => {
  expect(toFilename(url)).toBe(name)
})

test.each([
  '',
  'example.org/a.mp4',
  'ftp://example.org/a',
  'file:///etc/passwd',
  'javascript:alert(1)',
  `https://x/${'y'.repeat(5_000)}`,
  'http://x/\0',
])('rejects the source URL %j', (url) => {
  expect(checkSourceUrl('url', url)).toHaveLength(1)
})
