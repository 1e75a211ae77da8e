import { expect, test } from '@jest/globals'
import { findReferrerHost } from './referrer-host.ts'

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
