import { expect, test } from '@jest/globals'
import { replaceToken } from './page-address.ts'

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
