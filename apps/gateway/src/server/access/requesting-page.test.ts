import { expect, test } from '@jest/globals'
import { findRequestingPage } from './requesting-page.ts'

const PUBLIC_URL = 'https://video.example.org'

test.each([
  [{}, 'none'],
  [{ 'sec-fetch-site': 'none' }, 'none'],
  [{ 'sec-fetch-site': 'same-origin', origin: 'https://video.example.org' }, 'own'],
  [{ 'sec-fetch-site': 'same-site', origin: 'https://www.example.org' }, 'foreign'],
  [{ 'sec-fetch-site': 'cross-site' }, 'foreign'],
  [{ 'sec-fetch-site': 'cross-site', origin: 'https://video.example.org' }, 'foreign'],
  [{ origin: 'https://video.example.org' }, 'own'],
  [{ origin: 'http://10.0.0.7:8080', host: '10.0.0.7:8080' }, 'own'],
  [{ origin: 'https://video.example.org.evil.example', host: 'video.example.org' }, 'foreign'],
  [{ origin: 'https://video.example.org:444' }, 'foreign'],
  [{ origin: 'http://video.example.org' }, 'foreign'],
  [{ origin: 'null' }, 'foreign'],
  [{ origin: '' }, 'foreign'],
] as const)('a request with %j is from a page of the kind %s', (headers, kind) => {
  expect(findRequestingPage({ headers }, PUBLIC_URL)).toBe(kind)
})
