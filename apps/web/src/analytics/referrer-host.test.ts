import { expect, test } from '@jest/globals'
import { findReferrerHost, readReferrer } from './referrer-host.ts'

test.each([
  ['https://blog.example.com/secret?user=1', 'blog.example.com'],
  ['http://example.com:8080/', 'example.com'],
  ['https://bücher.example/', 'xn--bcher-kva.example'],
  ['https://videos.example.org/watch/7', ''],
  ['', ''],
  ['android-app://com.example', 'com.example'],
  ['about:blank', ''],
])('of %j, only the host is sent', (referrer, host) => {
  expect(findReferrerHost(referrer, 'videos.example.org')).toBe(host)
})

test('an embed code replaces the page that the browser reports', () => {
  const reported = 'https://frame.example.org/'
  expect(readReferrer('?referrer=https%3A%2F%2Fblog.example.com%2Fa', reported)).toBe('https://blog.example.com/a')
  expect(readReferrer('?referrer=&token=x', reported)).toBe(reported)
  expect(readReferrer('', reported)).toBe(reported)
})
