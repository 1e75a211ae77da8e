import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'

const packageFolder = join(import.meta.dirname, '..')
const MAX_SCRIPT_BYTES = 3_000

test(`dist/player.js has at most ${MAX_SCRIPT_BYTES} bytes (gzip), and loads no other file`, () => {
  const code = readFileSync(join(packageFolder, 'dist/player.js'))
  expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(MAX_SCRIPT_BYTES)
  expect(code.toString()).not.toMatch(/\bimport\b/)
})

const goodApp = `
import { createPlayer, PlayerError, type PlayerState } from '@vitascope/player'
import { VitascopePlayerElement } from '@vitascope/player/element'
import { VitascopePlayer } from '@vitascope/player/react'
const player = createPlayer(document.body)
const state: PlayerState = await player.setTrack('captions', null)
const stop: () => void = player.on('chapterchange', ({ state }) => console.log(state?.chapter))
const element = new VitascopePlayerElement()
element.currentTime = element.duration / 2
export const film = <VitascopePlayer host="https://video.example.org" video="42" onReady={(ready) => void ready.seek(90)} player="pug" />
export { PlayerError, state, stop }
`

describe('the types of the package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-types-'))
  const requireFromPackage = createRequire(join(packageFolder, 'package.json'))
  const link = (name: string, target: string) => symlinkSync(target, join(folder, 'node_modules', name))
  beforeAll(() => {
    mkdirSync(join(folder, 'node_modules/@types'), { recursive: true })
    mkdirSync(join(folder, 'node_modules/@vitascope'))
    link('@vitascope/player', packageFolder)
    for (const name of ['react', '@types/react', 'csstype']) link(name, dirname(requireFromPackage.resolve(`${name}/package.json`)))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  /** Returns the messages of the compiler about an app of a developer. */
  const compile = async (code: string, options: Record<string, unknown>) => {
    writeFileSync(join(folder, 'app.tsx'), code)
    const compilerOptions = {
      strict: true,
      noEmit: true,
      jsx: 'react-jsx',
      target: 'es2022',
      lib: ['es2022', 'dom'],
      types: [],
      ...options,
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['app.tsx'] }))
    const tsc = join(dirname(requireFromPackage.resolve('typescript/package.json')), 'bin/tsc')
    const run = promisify(execFile)(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], { cwd: folder })
    return run.then(
      ({ stdout }) => stdout,
      ({ stdout }: { stdout: string }) => stdout,
    )
  }

  test.each([{ module: 'nodenext' }, { module: 'esnext', moduleResolution: 'bundler' }])(
    'accept a correct app with the compiler options %j',
    async (options) => {
      expect(await compile(goodApp, options)).toBe('')
    },
    60_000,
  )

  test('reject wrong properties and arguments', async () => {
    const badApp = `${goodApp}
      void player.setTrack('subtitles', null)
      export const bad = <VitascopePlayer host="https://video.example.org" />`
    const lines = (await compile(badApp, { module: 'nodenext' })).split('\n').filter((line) => line.startsWith('app.tsx'))
    expect(lines).toEqual([expect.stringContaining('"subtitles"'), expect.stringContaining("'video'")])
  }, 60_000)
})
