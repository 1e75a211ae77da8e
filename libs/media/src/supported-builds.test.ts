// Faults: S14
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { canCopyPictures, isSupported, OLDEST_VERSION, SUPPORTED_BUILDS, warningFor } from './supported-builds.ts'

test.each([
  ['a distribution’s build', '5.1.9-0+deb12u1', false],
  ['a build of another distribution', '6.1.1-3ubuntu5.1', false],
  ['a new release', '8.1.3', false],
  ['a newer release', 'n9.0.2-12-gabc', false],
  ['a packaged build', 'n8.0.1-40-gabb609bb58-20260107', true],
  ['a release just below', '8.1.2', true],
  ['a build without a version number', 'N-66595-gc2b38619c0-static', true],
  ['a build newer than all tested ones', '99.0', true],
])('%s (%s) causes a warning: %p', (_, version, warned) => {
  expect(warningFor(version, version) !== undefined).toBe(warned)
})

test('an old ffprobe is reported with a supported ffmpeg', () => {
  expect(warningFor('8.1.3', 'N-66595-gc2b38619c0-static')).toMatch(
    /^ffmpeg 8\.1\.3 and ffprobe N-66595-gc2b38619c0-static are not of one build; ffprobe N-66595-gc2b38619c0-static without the security fixes/,
  )
})

test.each([
  ['4.4.2-0ubuntu0.22.04.1', false],
  ['5.0.1', false],
  ['5.1', true],
  ['n10.0', true],
  ['N-66595-gc2b38619c0', true],
])('%s is supported: %p', (version, supported) => {
  expect(isSupported(version)).toBe(supported)
})

test('video streams are copied from ffmpeg 7 on', () => {
  expect(['5.1.9-0+deb12u1', '6.0-static', 'n7.0-7-gd38bf5e08e', 'N-66595-gc2b38619c0'].map(canCopyPictures)).toEqual([
    false,
    false,
    true,
    true,
  ])
})

test('the list for operators contains each supported build', async () => {
  const text = await readFile(join(import.meta.dirname, '../../../docs/operate/images.md'), 'utf8')
  for (const { name, version } of SUPPORTED_BUILDS) expect(text).toContain(`| ${name} | ${version} |`)
  expect(SUPPORTED_BUILDS.every(({ version }) => isSupported(version))).toBe(true)
  expect(SUPPORTED_BUILDS[0]?.version.startsWith(`${OLDEST_VERSION}.`)).toBe(true)
})
