import { expect, test } from '@jest/globals'
import { findFfmpeg, warningFor } from './find-ffmpeg.ts'

test.each([
  ['a distribution’s build', '5.1.9-0+deb12u1', false],
  ['another distribution’s', '6.1.1-3ubuntu5.1', false],
  ['a new release', '8.1.3', false],
  ['a newer one', 'n9.0.2-12-gabc', false],
  ['an old packaged build', 'n7.0-7-gd38bf5e08e-20240407', true],
  ['one just below', '8.1.2', true],
  ['one without a number', 'N-66595-gc2b38619c0-static', true],
])('%s: %s', (_, version, warned) => {
  expect(warningFor(version) !== undefined).toBe(warned)
})

test('a given path must be there, with ffprobe beside it', async () => {
  await expect(findFfmpeg({ path: '/nowhere/ffmpeg' })).rejects.toThrow('/nowhere/ffmpeg is not there')
  await expect(findFfmpeg({ path: '/bin/true' })).rejects.toThrow(/ffprobe is not there/)
})

test('without a system’s ffmpeg the packaged one is found, with a warning', async () => {
  const tools = await findFfmpeg({ systemFolders: [] })
  expect(tools).toMatchObject({ toneMap: true, codecs: ['h264', 'hevc', 'av1'], warning: expect.stringContaining('VITASCOPE_FFMPEG') })
})
