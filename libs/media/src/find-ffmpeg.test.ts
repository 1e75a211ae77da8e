// Faults: S14
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { findFfmpeg } from './find-ffmpeg.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-find-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('a configured path requires ffmpeg and ffprobe, and the error contains the remedy', async () => {
  const advice = 'name an ffmpeg 5.1 or newer that has ffprobe in the same folder, or unset VITASCOPE_FFMPEG'
  const missing = findFfmpeg({ path: '/nowhere/ffmpeg' })
  await expect(missing).rejects.toThrow('VITASCOPE_FFMPEG=/nowhere/ffmpeg: /nowhere/ffmpeg does not exist or is not executable')
  await expect(missing).rejects.toThrow(advice)
  const alone = join(folder, 'ffmpeg')
  await symlink('/bin/true', alone)
  const withoutProbe = findFfmpeg({ path: alone })
  await expect(withoutProbe).rejects.toThrow(`VITASCOPE_FFMPEG=${alone}: ${join(folder, 'ffprobe')} does not exist or is not executable`)
  await symlink('/bin/true', join(folder, 'ffprobe'))
  await expect(findFfmpeg({ path: alone })).rejects.toThrow(/cannot be used \(.*prints no version of ff(mpeg|probe)\)/)
})

test('a configured ffmpeg that is too old is rejected', async () => {
  const old = join(folder, 'old')
  await rm(join(folder, 'ffprobe'), { force: true })
  for (const name of ['old', 'ffprobe']) {
    const responses = `case "$*" in *-version*) echo "${name === 'old' ? 'ffmpeg' : name} version 4.4.2";; *-encoders*) printf ' V h264 (\\n V..... libx264 x\\n A..... aac x\\n V..... mjpeg x\\n';; esac`
    await writeFile(join(folder, name), `#!/bin/sh\n${responses}\n`, { mode: 0o755 })
  }
  await expect(findFfmpeg({ path: old })).rejects.toThrow(`VITASCOPE_FFMPEG=${old} is ffmpeg 4.4.2; name an ffmpeg 5.1 or newer`)
})

test('without a system ffmpeg the packaged one is used, with both tools of one build, and a warning names both', async () => {
  const tools = await findFfmpeg({ systemFolders: [] })
  expect(tools).toMatchObject({ toneMap: true, codecs: ['h264', 'hevc', 'av1'] })
  expect(tools.ffprobeVersion).toBe(tools.version)
  expect(tools.warning).toContain(`ffmpeg ${tools.version} and ffprobe ${tools.ffprobeVersion} without the security fixes`)
})
