import { existsSync, readFileSync } from 'node:fs'
import { browserPath, redisPath } from '@vitascope/testing'
import { runCommand } from './run-command.ts'

/** What tests need beside Node, and how it is told that a test file needs it. */
const programs = [
  { what: 'Chromium', package: 'chromium', find: browserPath, neededBy: 'playwright-core', tests: 'in a browser' },
  { what: 'Redis', package: 'redis-server', find: redisPath, neededBy: 'startRedis', tests: 'with Redis' },
]

/** Installs, as root on Debian, what these test files need and the machine lacks; elsewhere says what to do. */
export async function provideTestPrograms(testFiles: readonly string[]): Promise<void> {
  const texts = testFiles.map((file) => readFileSync(file, 'utf8'))
  const missing = programs.filter(({ find, neededBy }) => find() === undefined && texts.some((text) => text.includes(neededBy)))
  if (missing.length === 0) return

  const names = missing.map(({ what }) => what).join(' and ')
  const skipped = missing.map(({ tests }) => tests).join(' and ')
  const install = `apt-get install --yes --no-install-recommends ${missing.map((program) => program.package).join(' ')}`
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    console.log(`The tests ${skipped} are skipped: ${names} missing. To run them: sudo ${install}`)
    return
  }
  console.log(`Missing: ${names}; as this is root: apt-get update && ${install} …`)
  // No server is to be started by its package.
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  await runCommand('apt-get', ['update', '-qq'], env)
  const { code, output } = await runCommand('apt-get', install.split(' ').slice(1), env)
  if (code !== 0) console.log(`That failed, so the tests ${skipped} are skipped:\n${output.split('\n').slice(-5).join('\n')}`)
}
