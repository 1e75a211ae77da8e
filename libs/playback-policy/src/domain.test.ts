import { describe, expect, test } from '@jest/globals'
import { matchesDomain, parseDomainPattern, toDomain } from './domain.ts'

test.each([
  ['https://example.com/path?x=1', 'example.com'],
  ['http://Example.COM:8080/', 'example.com'],
  ['https://example.com./', 'example.com'],
  ['https://allowed.com@evil.com/', 'evil.com'],
  ['https://allowed.com:443@evil.com/', 'evil.com'],
  ['https://evil.com/https://allowed.com/', 'evil.com'],
  ['https://evil.com#@allowed.com', 'evil.com'],
  ['https://evil.com\\@allowed.com/', 'evil.com'],
  ['https://münchen.example/', 'xn--mnchen-3ya.example'],
  // The Cyrillic letters look like Latin ones.
  ['https://аррӏе.com/', 'xn--80ak6aa92e.com'],
  ['https://127.0.0.1/', '127.0.0.1'],
  ['null', undefined],
  ['', undefined],
  [undefined, undefined],
  ['about:srcdoc', undefined],
  ['file:///etc/passwd', undefined],
  ['data:text/html,x', undefined],
  ['blob:https://example.com/1', undefined],
  ['android-app://com.example', undefined],
  ['example.com', undefined],
  ['https://', undefined],
])('the domain of the page %p is %p', (page, domain) => {
  expect(toDomain(page)).toBe(domain)
})

describe('a pattern', () => {
  test.each([
    ['example.com', 'example.com', true],
    ['example.com', 'www.example.com', false],
    ['example.com', 'notexample.com', false],
    ['*.example.com', 'www.example.com', true],
    ['*.example.com', 'a.b.example.com', true],
    ['*.example.com', 'example.com', false],
    ['*.example.com', 'evilexample.com', false],
    ['*.example.com', 'example.com.evil.com', false],
    ['EXAMPLE.com.', 'example.com', true],
    ['münchen.example', 'xn--mnchen-3ya.example', true],
    ['apple.com', 'xn--80ak6aa92e.com', false],
    ['localhost', 'localhost', true],
  ])('%s compared with %s: %p', (text, domain, expected) => {
    const pattern = parseDomainPattern(text)
    if (!pattern) throw new Error('the pattern is invalid')
    expect(matchesDomain(domain, pattern)).toBe(expected)
  })

  test.each([
    '',
    '*',
    '*.',
    'ex*mple.com',
    'www.*.com',
    '*.*.com',
    'https://example.com',
    'example.com/path',
    'example.com:443',
    'user@example.com',
    'exa mple.com',
    '.example.com',
    'example..com',
    '-example.com',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(130)}com`,
  ])('%p is invalid', (text) => {
    expect(parseDomainPattern(text)).toBeUndefined()
  })
})
