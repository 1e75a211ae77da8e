import { expect, test } from '@jest/globals'
import { readPageAddress, replaceToken, withToken } from './page-address.ts'

const host = 'http://localhost:8080'

const file = (token: string, kind = '') => `https://video.example/delivery/${kind}42/k3v9${token}/hls/h264_500/seg-00001.m4s`

test.each([
  ['of a video', file('~old.to-ken_1'), file('~new')],
  ['of a presentation', file('~old', 'presentation/'), file('~new', 'presentation/')],
  ['without a token', file(''), file('')],
  ['of another server', 'https://cdn.example/42~old/a.ts', 'https://cdn.example/42~old/a.ts'],
])('the current token replaces that in the URL of a file %s', (_, before, after) => {
  expect(replaceToken(before, 'new')).toBe(after)
  expect(replaceToken(before, undefined)).toBe(before)
})

const defaultAddress = {
  ...{ token: undefined, autoplay: false, muted: false, presentation: false, loop: false },
  ...{ start: 0, end: undefined, language: undefined, skin: null },
}

test.each([
  ['/player/v7', { videoId: 'v7' }],
  [
    '/player/v7/?token=a.b&autoplay=1&muted=1&presentation=true',
    { videoId: 'v7', token: 'a.b', autoplay: true, muted: true, presentation: true },
  ],
  ['/player/a%20b?autoplay=0&token=', { videoId: 'a b' }],
  ['/player/%E0%A4%A', { videoId: '%E0%A4%A' }],
  ['/player/', { videoId: '' }],
  ['/player/v7?start=90&end=2m&loop=1&lang=de&player=pug', { videoId: 'v7', start: 90, end: 120, loop: true, language: 'de', skin: 'pug' }],
  ['/player/v7?start=5#t=1h2m3s', { videoId: 'v7', start: 3723 }],
  ['/player/v7#t=1:30,95.5', { videoId: 'v7', start: 90, end: 95.5 }],
  ['/player/v7?start=-4&end=x#t=npt:', { videoId: 'v7' }],
  ['/player/v7?start=10&end=10', { videoId: 'v7', start: 10 }],
])('parses the page URL %s', (path, address) => {
  expect(readPageAddress(host + path)).toEqual({ ...defaultAddress, ...address })
})

test.each([
  ['a URL', `${host}/delivery/x.m3u8`, 't', `${host}/delivery/x.m3u8?token=t`],
  ['a URL with a query, and a token that must be escaped', `${host}/x?v=1`, 'a&b', `${host}/x?v=1&token=a%26b`],
  ['a relative URL', '/delivery/x', 't', `${host}/delivery/x?token=t`],
])('withToken adds the token to %s', (_, address, token, expected) => {
  expect(withToken(address, token, `${host}/player/v7`)).toBe(expected)
})

test('withToken changes neither an empty address nor an address without a token', () => {
  expect(withToken('', 't', `${host}/player/v7`)).toBe('')
  expect(withToken('/delivery/x', undefined, `${host}/player/v7`)).toBe('/delivery/x')
})
