import { expect, test } from '@jest/globals'
import { describeBrowser } from './describe-browser.ts'

const WEBKIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'
const IPHONE = `Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) ${WEBKIT}`
const ANDROID = 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36'

test.each([
  ['Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0', 'Firefox, Linux'],
  [`${IPHONE} Version/18.5 Mobile/15E148 Safari/604.1`, 'Safari, iOS'],
  [`${IPHONE} CriOS/140.0.7339.39 Mobile/15E148 Safari/604.1`, 'Chrome, iOS'],
  [`${IPHONE} FxiOS/143.0 Mobile/15E148 Safari/605.1.15`, 'Firefox, iOS'],
  [`${IPHONE} EdgiOS/140.0.3485.54 Version/18.0 Mobile/15E148 Safari/604.1`, 'Edge, iOS'],
  [ANDROID, 'Chrome, Android'],
  [`${ANDROID} EdgA/140.0.0.0`, 'Edge, Android'],
  ['curl/8.5.0', 'curl/8.5.0'],
  ['', '–'],
])('the browser %s is %s', (userAgent, name) => {
  expect(describeBrowser(userAgent)).toBe(name)
})
