import { existsSync, readFileSync } from 'node:fs'
import { browserPath } from '@vitascope/testing'
import { runCommand } from './run-command.ts'

/** Installs, as root on Debian, what these test files need and the machine lacks; elsewhere says what to do. */
export async function provideTestPrograms(testFiles: readonly string[]): Promise<void> {
  const inBrowser = testFiles.some((file) => readFileSync(file, 'utf8').includes('playwright-core'))
  if (!inBrowser || browserPath() !== undefined) return

  const install = 'apt-get install --yes --no-install-recommends chromium'
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    console.log(`The tests in a browser are skipped: Chromium is missing. To run them: sudo ${install}`)
    return
  }
  console.log(`Chromium is missing; as this is root: apt-get update && ${install} …`)
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  await runCommand('apt-get', ['update', '-qq'], env)
  const { code, output } = await runCommand('apt-get', install.split(' ').slice(1), env)
  if (code !== 0) console.log(`That failed, so the tests in a browser are skipped:\n${output.split('\n').slice(-5).join('\n')}`)
}
