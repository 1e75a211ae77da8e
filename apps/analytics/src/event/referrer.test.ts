import { expect, test } from '@jest/globals'
import { toReferrerDomain } from './referrer.ts'

test.each([
  ['', ''],
  ['example.com', 'example.com'],
  ['WWW.Example.COM', 'example.com'],
  ['a.b.c.example.com.', 'example.com'],
  ['news.bbc.co.uk', 'bbc.co.uk'],
  ['co.uk', 'co.uk'],
  ['www.example.de', 'example.de'],
  ['com.example.com', 'example.com'],
  ['xn--bcher-kva.example', 'xn--bcher-kva.example'],
  ['localhost', 'other'],
  ['192.0.2.7', 'other'],
  ['[2001:db8::1]', 'other'],
  ['example.com:8080', 'other'],
  ['https://example.com/secret', 'other'],
  ['a/b.example.com', 'other'],
  ['a\tb.example', 'other'],
  ['-.example', 'other'],
  [`${'a'.repeat(64)}.example`, 'other'],
  [`${'a.'.repeat(140)}example`, 'other'],
])('%j counts as %j', (host, domain) => {
  expect(toReferrerDomain(host)).toBe(domain)
})
