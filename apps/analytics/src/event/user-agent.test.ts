import { expect, test } from '@jest/globals'
import { threadCpuTimeMs } from '@vitascope/testing'
import { parseUserAgent } from './user-agent.ts'

const WEBKIT = 'AppleWebKit/537.36 (KHTML, like Gecko)'
const CHROME = `${WEBKIT} Chrome/141.0.0.0`
const IOS = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'

test.each([
  ['desktop', 'chrome', 'windows', `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36`],
  ['desktop', 'edge', 'windows', `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${CHROME} Safari/537.36 Edg/141.0.0.0`],
  ['desktop', 'opera', 'macos', `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${CHROME} Safari/537.36 OPR/120.0.0.0`],
  ['desktop', 'safari', 'macos', `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${IOS} Version/18.5 Safari/605.1.15`],
  ['desktop', 'firefox', 'linux', 'Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0'],
  ['desktop', 'chrome', 'linux', `Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} HeadlessChrome/141.0.0.0 Safari/537.36`],
  ['desktop', 'chrome', 'chromeos', `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${CHROME} Safari/537.36`],
  ['phone', 'chrome', 'android', `Mozilla/5.0 (Linux; Android 10; K) ${CHROME} Mobile Safari/537.36`],
  [
    'phone',
    'samsung',
    'android',
    `Mozilla/5.0 (Linux; Android 14; SM-S921B) ${WEBKIT} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
  ],
  ['phone', 'firefox', 'android', 'Mozilla/5.0 (Android 15; Mobile; rv:144.0) Gecko/144.0 Firefox/144.0'],
  ['tablet', 'chrome', 'android', `Mozilla/5.0 (Linux; Android 13; SM-X710) ${CHROME} Safari/537.36`],
  ['tablet', 'firefox', 'android', 'Mozilla/5.0 (Android 15; Tablet; rv:144.0) Gecko/144.0 Firefox/144.0'],
  ['phone', 'safari', 'ios', `Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) ${IOS} Version/18.5 Mobile/15E148 Safari/604.1`],
  ['phone', 'chrome', 'ios', `Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) ${IOS} CriOS/141.0.0.0 Mobile/15E148 Safari/604.1`],
  ['tablet', 'safari', 'ios', `Mozilla/5.0 (iPad; CPU OS 12_5 like Mac OS X) ${IOS} Version/12.1.2 Mobile/15E148 Safari/604.1`],
  ['tv', 'chrome', 'other', `Mozilla/5.0 (Web0S; Linux/SmartTV) ${CHROME} Safari/537.36 WebAppManager`],
  ['tv', 'samsung', 'other', `Mozilla/5.0 (SMART-TV; LINUX; Tizen 7.0) ${WEBKIT} SamsungBrowser/4.0 Chrome/94.0.4606.31 TV Safari/537.36`],
  ['tv', 'chrome', 'android', `Mozilla/5.0 (Linux; Android 12; BRAVIA 4K) ${CHROME} Safari/537.36`],
  ['other', 'other', 'other', 'Mozilla/5.0 (PlayStation; PlayStation 5/2.26) AppleWebKit/605.1.15 (KHTML, like Gecko)'],
  ['other', 'other', 'other', 'okhttp/5.1.0'],
  ['other', 'other', 'other', ''],
])('%s, %s and %s: %s', (device, browser, os, userAgent) => {
  expect(parseUserAgent(userAgent)).toEqual({ device, browser, os })
})

test('an unknown or hostile user agent of the maximum length is parsed within milliseconds', () => {
  const start = threadCpuTimeMs()
  for (const part of ['Version/1.', ' Android', 'Silk/', 'Mobile'])
    expect(Object.keys(parseUserAgent(part.repeat(500).slice(0, 500)))).toEqual(['device', 'browser', 'os'])
  expect(threadCpuTimeMs() - start).toBeLessThan(100)
})
