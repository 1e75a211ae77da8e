import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, test } from '@jest/globals'
import { oldestNodePath } from '@vitascope/testing'

const packageFolder = join(import.meta.dirname, '..')
const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'vitascope-cli-'))
afterAll(() => rmSync(folder, { recursive: true }))

test('the package is installed without a registry, and runs on the oldest supported Node.js', async () => {
  await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: packageFolder })
  const { version, dependencies } = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as {
    version: string
    dependencies?: object
  }
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', `./vitascope-cli-${version}.tgz`], { cwd: folder })
  const installed = await run(join(folder, 'node_modules/.bin/vitascope'), ['--version'])
  expect(installed.stdout).toBe(`${version}\n`)
  expect(dependencies).toBeUndefined()
  const oldest = oldestNodePath() ?? process.execPath
  const { stdout } = await run(oldest, [join(folder, 'node_modules/vitascope-cli/dist/vitascope.js'), 'upload', '--help'])
  expect(stdout).toContain('vitascope upload clip.mp4')
}, 60_000)
