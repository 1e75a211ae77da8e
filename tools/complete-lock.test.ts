// Faults: K11
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { completeLock, type LockFile } from './complete-lock.ts'
import { root } from './lib/run-command.ts'

test('the lock file has the SHA-512 hash of each package that Linux with glibc can install', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as LockFile
  const foreign = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link)
  const installable = foreign.filter(
    ([, { os = ['linux'], cpu = ['x64'], libc = ['glibc'] }]) =>
      os.includes('linux') && libc.includes('glibc') && (cpu.includes('x64') || cpu.includes('arm64')),
  )
  expect(installable.length).toBeGreaterThan(700)
  expect(installable.filter(([, { integrity = '' }]) => !/^sha512-/.test(integrity)).map(([path]) => path)).toEqual([])
  expect(foreign.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path)).toEqual([])
})

test('npm ci accepts the lock file, which has an entry for each optional package', () => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as LockFile
  expect(Object.keys(completeLock(lock).packages)).toEqual(Object.keys(lock.packages))
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-lock-'))
  const manifests = Object.keys(lock.packages).filter((path) => !path.includes('node_modules/'))
  for (const path of manifests) {
    mkdirSync(join(folder, path), { recursive: true })
    copyFileSync(join(root, path, 'package.json'), join(folder, path, 'package.json'))
  }
  for (const name of ['package-lock.json', '.npmrc']) copyFileSync(join(root, name), join(folder, name))
  const { status, stderr } = spawnSync('npm', ['ci', '--dry-run', '--offline'], { cwd: folder, encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  expect([status, stderr]).toEqual([0, ''])
})

test('a lock file without the packages of other platforms is completed', () => {
  const packages = {
    '': {},
    'node_modules/tool': {
      version: '1.0.0',
      dev: true,
      optionalDependencies: { '@tool/linux-x64': '1.0.0', '@tool/linux-arm64-musl': '1.0.0' },
    },
    'node_modules/@tool/linux-x64': { version: '1.0.0', integrity: 'sha512-AAEC' },
  }
  expect(completeLock({ packages }).packages).toEqual({
    ...packages,
    'node_modules/@tool/linux-arm64-musl': { version: '1.0.0', dev: true, optional: true, os: ['linux'], cpu: ['arm64'], libc: ['musl'] },
  })
})
