import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { checkSource, tagRelease } from './preconditions.ts'
import { setVersion, versionProblems } from './versions.ts'

let folder: string
const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()
const read = (name: string) => readFileSync(join(folder, name), 'utf8')
function write(name: string, content: string | object): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`)
}
function commit(message: string): string {
  git('add', '--all')
  git('commit', '--quiet', '--message', message)
  return git('rev-parse', 'HEAD')
}

/** A checkout with the version 1.0.0 in all files. */
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vitascope-release-source-'))
  const [app, lib] = [
    { name: '@vitascope/auth', version: '1.0.0', dependencies: { '@vitascope/errors': '1.0.0', pg: '1.0.0' } },
    { name: '@vitascope/errors', version: '1.0.0' },
  ]
  const cli = { name: 'vitascope-cli', version: '1.0.0', devDependencies: { '@vitascope/errors': '1.0.0' } }
  write('package.json', { name: 'vitascope', version: '1.0.0' })
  write('apps/auth/package.json', app)
  write('libs/errors/package.json', lib)
  write('packages/cli/package.json', cli)
  write('e2e/package.json', { name: '@vitascope/e2e', version: '1.0.0' })
  write('package-lock.json', {
    name: 'vitascope',
    version: '1.0.0',
    packages: {
      '': { name: 'vitascope', version: '1.0.0' },
      'apps/auth': app,
      'libs/errors': lib,
      'node_modules/@vitascope/errors': { resolved: 'libs/errors', link: true },
      'node_modules/pg': { version: '1.0.0' },
    },
  })
  write('helm/vitascope/Chart.yaml', 'name: vitascope\nversion: 1.0.0\nappVersion: 1.0.0\n')
  write('CHANGELOG.md', '# Changelog\n\n## 1.0.0\n\n### Added\n\n- The first version.\n')
  write('packages/cli/README.md', 'npm install ./vitascope-cli-1.0.0.tgz\n')
  for (const page of ['tutorial/first-video-with-the-cli', 'tutorial/first-video-in-typescript', 'guides/use-the-sdk'])
    write(`docs/${page}.md`, 'npm install ./vitascope-sdk-1.0.0.tgz\n')
  git('init', '--quiet')
  git('config', 'user.name', 'test')
  git('config', 'user.email', 'test@example.org')
  commit('Release')
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('a checkout can be released', () => {
  test('with equal versions, no changes and a section of the changelog', async () => {
    const { commit, time, section } = await checkSource(folder, '1.0.0')
    expect(commit).toBe(git('rev-parse', 'HEAD'))
    expect(time.getTime()).toBe(Number(git('log', '-1', '--format=%ct')) * 1000)
    expect(section.parts).toEqual({ Added: '- The first version.' })
  })

  test('again from the commit of its tag', async () => {
    git('tag', '--annotate', 'v1.0.0', '--message', 'x')
    await expect(checkSource(folder, '1.0.0')).resolves.toMatchObject({ commit: git('rev-parse', 'HEAD') })
  })
})

test('a release has a tag at its commit, also after later commits, and after a second build', async () => {
  const { commit: released } = await checkSource(folder, '1.0.0')
  write('new.txt', 'x')
  commit('Change')
  expect([await tagRelease(folder, '1.0.0', released), await tagRelease(folder, '1.0.0', released)]).toEqual([true, false])
  expect(git('rev-parse', 'v1.0.0^{commit}')).toBe(released)
})

describe('a checkout cannot be released', () => {
  test('with a malformed version', async () => {
    await expect(checkSource(folder, 'v1.0')).rejects.toThrow('--version v1.0 is not a version')
  })

  test('with changes that are not committed', async () => {
    write('new.txt', 'x')
    await expect(checkSource(folder, '1.0.0')).rejects.toThrow('files have changes that are not committed:\n?? new.txt')
  })

  test('with a tag of the version at another commit', async () => {
    git('tag', 'v1.0.0')
    write('new.txt', 'x')
    commit('Change')
    await expect(checkSource(folder, '1.0.0')).rejects.toThrow(/^the tag v1\.0\.0 exists at commit [0-9a-f]{12}: choose a new version/)
  })

  test('as another version than that of package.json, and with all other problems', async () => {
    write('new.txt', 'x')
    const promise = checkSource(folder, '1.1.0')
    await expect(promise).rejects.toThrow('package.json has version 1.0.0')
    await expect(promise).rejects.toThrow('not committed')
    await expect(promise).rejects.toThrow('CHANGELOG.md has no section "## 1.1.0"')
  })

  test.each([
    ['apps/auth/package.json', '"version": "1.0.0"', '"version": "0.9.0"', 'apps/auth/package.json has version 0.9.0'],
    ['apps/auth/package.json', '"@vitascope/errors": "1.0.0"', '"@vitascope/errors": "0.9.0"', '@vitascope/errors has version 0.9.0'],
    [
      'package-lock.json',
      '"name": "@vitascope/errors",\n      "version": "1.0.0"',
      '"name": "@vitascope/errors",\n      "version": "0.9.0"',
      'package-lock.json: @vitascope/errors has version 0.9.0',
    ],
    ['helm/vitascope/Chart.yaml', 'appVersion: 1.0.0', 'appVersion: 0.9.0', 'Chart.yaml: appVersion has version 0.9.0'],
    ['helm/vitascope/Chart.yaml', '\nversion: 1.0.0', '\nversion: 0.9.0', 'Chart.yaml: version has version 0.9.0'],
    ['CHANGELOG.md', '## 1.0.0', '## 1.1.0', 'CHANGELOG.md: the newest section has version 1.1.0'],
    ['docs/guides/use-the-sdk.md', 'sdk-1.0.0', 'sdk-0.9.0', 'docs/guides/use-the-sdk.md has version 0.9.0'],
  ])('if %s has another version (%s)', async (file, from, to, message) => {
    write(file, read(file).replace(from, to))
    expect(read(file)).toContain(to)
    commit('Change')
    await expect(checkSource(folder, '1.0.0')).rejects.toThrow(message)
  })
})

describe('the version', () => {
  test('is written to all files, and only to versions of the project', async () => {
    write('CHANGELOG.md', read('CHANGELOG.md').replace('## 1.0.0', '## Unreleased\n\n### Fixed\n\n- A fault.\n\n## 1.0.0'))
    setVersion(folder, '1.1.0-rc.1')
    expect(versionProblems(folder)).toEqual([])
    expect(JSON.parse(read('apps/auth/package.json'))).toMatchObject({ version: '1.1.0-rc.1', dependencies: { pg: '1.0.0' } })
    expect(JSON.parse(read('package-lock.json'))).toMatchObject({ packages: { 'node_modules/pg': { version: '1.0.0' } } })
    expect(read('CHANGELOG.md')).toContain('\n## 1.1.0-rc.1\n\n### Fixed\n\n- A fault.\n\n## 1.0.0\n')
    commit('Release')
    await expect(checkSource(folder, '1.1.0-rc.1')).resolves.toMatchObject({ section: { parts: { Fixed: '- A fault.' } } })
  })

  test('cannot be set without changes in the changelog', () => {
    expect(() => setVersion(folder, '1.1.0')).toThrow('neither a section "## Unreleased" nor "## 1.1.0"')
    expect(git('status', '--porcelain')).toBe('')
  })

  test('must be well-formed', () => {
    expect(() => setVersion(folder, '1.1')).toThrow('1.1 is not a version')
  })
})
