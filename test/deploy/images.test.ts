// Faults: S14, K11
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { APPS, assemble } from '../../deploy/images/assemble.ts'
import { listModules } from '../../deploy/images/compile.ts'
import { IMAGES, STATE_FOLDER, STATE_FOLDERS, USER, WORK_FOLDER } from '../../deploy/images/image-config.ts'
import { buildBillOfMaterials, readDebianStatus } from '../../deploy/images/sbom.ts'

const root = join(import.meta.dirname, '../..')
/** The reference to the argument in the Dockerfile. */
const NODE_IMAGE = ['$', 'NODE_IMAGE}'].join('{')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

describe('the Dockerfile', () => {
  const stages = read('deploy/images/Dockerfile')
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll('\\\n', ' ')
    .split(/^FROM /m)
    .slice(1)
    .map((text) => {
      const [first = '', ...lines] = text.split('\n')
      const [base = '', name = ''] = first.split(' AS ')
      return { base, name, lines }
    })
  const last = (name: string, word: string) =>
    stages
      .find((stage) => stage.name === name)
      ?.lines.filter((line) => line.startsWith(`${word} `))
      .at(-1)

  test('starts from the image of an argument, or from its own stages', () => {
    expect(stages.map(({ name, base }) => [name, base])).toEqual([
      ['media', NODE_IMAGE],
      ['assembled', NODE_IMAGE],
      ['packages', NODE_IMAGE],
      ['compiled', NODE_IMAGE],
      ['server', NODE_IMAGE],
      ['encoding', 'media'],
    ])
  })

  test('pins its base image by digest, as compose.yaml pins each public image', () => {
    expect(read('deploy/images/Dockerfile')).toMatch(/^ARG NODE_IMAGE=\S+\/node:24\.\d+\.\d+-[a-z-]+@sha256:[0-9a-f]{64}$/m)
    const images = [...read('deploy/compose.yaml').matchAll(/image: \$\{\w+:-([^}]+)\}/g)].map(([, image]) => image)
    expect(images).toHaveLength(3)
    expect(images.filter((image = '') => !/:[^@]+@sha256:[0-9a-f]{64}$/.test(image))).toEqual([])
  })

  test('installs packages by npm ci from the lock file, in a stage that source changes do not affect', () => {
    const packages = stages.find((stage) => stage.name === 'packages')?.lines.join('\n') ?? ''
    expect(packages).toMatch(/^RUN npm ci /m)
    expect(packages.match(/^COPY .*/gm)).toEqual(['COPY --from=assembled /manifests /app'])
    expect(read('deploy/images/Dockerfile')).not.toMatch(/npm install/)
  })

  test('installs ffmpeg in a stage that source changes do not affect', () => {
    const lines = (name: string) => stages.find((stage) => stage.name === name)?.lines.join('\n') ?? ''
    expect(lines('media')).toMatch(/apt-get install .*FFMPEG/)
    expect(lines('media')).not.toMatch(/^(COPY|ADD) /m)
    for (const name of ['server', 'encoding']) expect([name, lines(name).includes('apt-get')]).toEqual([name, false])
  })

  test('creates images that run as an unprivileged user, with the program as argument', () => {
    for (const name of ['server', 'encoding']) {
      expect([name, last(name, 'USER')]).toEqual([name, 'USER 10001:10001'])
      expect([name, last(name, 'ENTRYPOINT')?.includes('"node"')]).toEqual([name, true])
      const [program = ''] = /apps\/[^"]+/.exec(last(name, 'CMD') ?? '') ?? []
      expect([name, existsSync(join(root, program))]).toEqual([name, true])
    }
  })

  test('has the settings of the images of a release', () => {
    for (const [name, image] of Object.entries(IMAGES)) {
      expect([name, last(name, 'ENTRYPOINT')]).toEqual([name, `ENTRYPOINT ${JSON.stringify(image.entrypoint).replaceAll(',', ', ')}`])
      expect([name, last(name, 'CMD')]).toEqual([name, `CMD ${JSON.stringify(image.command)}`])
      expect([name, last(name, 'USER')]).toEqual([name, `USER ${USER}:${USER}`])
      expect([name, last(name, 'WORKDIR')]).toEqual([name, `WORKDIR ${WORK_FOLDER}`])
      expect(last(name, 'LABEL')).toContain(`org.opencontainers.image.title="${image.title}"`)
      expect(last(name, 'LABEL')).toContain(`org.opencontainers.image.description="${image.description}"`)
      for (const folder of STATE_FOLDERS) expect([name, last(name, 'RUN')?.includes(`/${STATE_FOLDER}/${folder}`)]).toEqual([name, true])
    }
  })

  test('copies exactly the existing files that .dockerignore allows', () => {
    const allowed = new Set(
      read('.dockerignore')
        .match(/^!.+/gm)
        ?.map((line) => line.slice(1)),
    )
    const copied = stages
      .flatMap(({ lines }) => lines.filter((line) => /^(COPY|ADD) (?!--from)/.test(line)))
      .flatMap((line) => line.split(' ').slice(1, -1))
    expect(copied.filter((path) => !existsSync(join(root, path)) || !allowed.has(path))).toEqual([])
    expect([...allowed].filter((path) => !copied.includes(path))).toEqual([])
  })
})

describe('the assembled folder', () => {
  let folder: string
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'vitascope-image-'))
    assemble(root, folder)
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  const packages = () =>
    ['apps', 'libs'].flatMap((kind) =>
      readdirSync(join(folder, kind))
        .map((name) => join(folder, kind, name))
        .filter((path) => existsSync(join(path, 'package.json'))),
    )
  const sources = (path: string) =>
    readdirSync(path, { recursive: true, encoding: 'utf8' }).filter((file) => /\.(ts|mjs|js)$/.test(file) && !file.includes('node_modules'))

  test('contains every service, its migrations and the built pages, and no tests', () => {
    for (const app of APPS) expect([app, existsSync(join(folder, 'apps', app, 'src/main.ts'))]).toEqual([app, true])
    expect(existsSync(join(folder, 'apps/catalogue/migrations'))).toBe(true)
    for (const site of ['apps/web/dist/index.html', 'apps/docs/dist/index.html', 'apps/console/dist/index.html'])
      expect([site, existsSync(join(folder, site))]).toEqual([site, true])
    expect(existsSync(join(folder, 'libs/proto/src/gen/descriptors.binpb'))).toBe(true)
    expect(packages().flatMap((path) => sources(path).filter((file) => /\.test\.ts$|(^|\/)test\//.test(file)))).toEqual([])
  })

  test('contains the command for backup and restore', async () => {
    const command = join(folder, 'apps/backup/src/main.ts')
    // Packages are installed at a later stage, so the test uses those of the checkout.
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', command, 'restore', '--from', '/nowhere'],
      {
        encoding: 'utf8',
        env: {},
      },
    )
    rmSync(join(folder, 'node_modules'))
    expect([status, stderr]).toEqual([1, 'the restore failed: there is no complete backup in /nowhere\n'])
  })

  test('contains the commands that docs/operate runs in pods of a service with their database setting', () => {
    const pages = ['install-kubernetes', 'security'].map((page) => read(`docs/operate/${page}.md`)).join('\n')
    const commands = [...pages.matchAll(/vitascope-(\w+) -- [\s\S]*?node (apps\/\S+\.ts)/g)]
    expect([...new Set(commands.map(([, service]) => service))].sort()).toEqual(['analytics', 'auth', 'catalogue', 'encoding'])
    expect(commands).toHaveLength(6)
    for (const [, service, command = ''] of commands) {
      const code = existsSync(join(folder, command)) ? readFileSync(join(folder, command), 'utf8') : ''
      expect([command.split('/')[1], /readCommandDatabaseUrl|readDatabaseConfig|readRekeyConfig/.test(code)]).toEqual([service, true])
    }
  })

  test('contains no symbolic links', () => {
    const links = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isSymbolicLink())
    expect(links.map(({ parentPath, name }) => join(parentPath, name))).toEqual([])
    const migrations = (root: string) => readdirSync(join(root, 'apps/encoding/migrations')).sort()
    expect(migrations(folder)).toEqual(migrations(join(import.meta.dirname, '../..')))
  })

  test('contains every module for which compiled code is cached', () => {
    const parts = listModules(folder)
    expect(parts.filter((part) => part.endsWith('/service.ts')).length).toBe(APPS.length)
    expect(parts.filter((part) => !existsSync(part))).toEqual([])
  })

  test('imports only packages that its manifests list and that exist', () => {
    const missing: string[] = []
    let checkedCount = 0
    for (const path of packages()) {
      const { name, dependencies = {} } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as {
        name: string
        dependencies?: Record<string, string>
      }
      for (const file of sources(path)) {
        const code = readFileSync(join(path, file), 'utf8')
        for (const [, isType, imported = ''] of code.matchAll(/^(?:import|export) (type )?[^'"\n]*?(?:\n[^'"]*?)??from '([^'.][^']*)'/gm)) {
          checkedCount++
          const importedPackages = imported
            .split('/')
            .slice(0, imported.startsWith('@') ? 2 : 1)
            .join('/')
          const isBuiltIn = imported.startsWith('node:') || builtinModules.includes(imported)
          if (!isBuiltIn && isType === undefined && importedPackages !== name && !(importedPackages in dependencies))
            missing.push(`${name}: ${file} imports ${imported}`)
        }
      }
      for (const dependency of Object.keys(dependencies)) {
        const [, lib] = /^@vitascope\/(.+)$/.exec(dependency) ?? []
        if (lib !== undefined && !existsSync(join(folder, 'libs', lib, 'package.json'))) missing.push(`${name} depends on ${dependency}`)
      }
    }
    expect(missing).toEqual([])
    expect(checkedCount).toBeGreaterThan(1_000)
  })

  test('has no development dependencies or scripts', () => {
    for (const path of [folder, ...packages()]) {
      const manifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Record<string, unknown>
      expect([path, manifest['devDependencies'], manifest['optionalDependencies'], manifest['scripts']]).toEqual([
        path,
        undefined,
        undefined,
        undefined,
      ])
    }
  })
})

test('the bill of materials lists Node, every npm package with its hash, and every installed Debian package', () => {
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-sbom-'))
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  mkdirSync(join(folder, 'node_modules'))
  write('package.json', '{"name": "vitascope", "version": "0.1.0"}')
  const installed = {
    'node_modules/one': { version: '1.0.0', integrity: 'sha512-AAEC' },
    'apps/x/node_modules/@scope/two': { version: '2.0.0', license: 'MIT' },
    'node_modules/@vitascope/x': { link: true },
    'apps/x': { version: '0.1.0' },
  }
  write('node_modules/.package-lock.json', JSON.stringify({ packages: installed }))
  const paragraph = (name: string, status: string) => `Package: ${name}\nStatus: ${status}\nArchitecture: amd64\nVersion: 2.36-9+deb12u10\n`
  mkdirSync(join(folder, 'var/lib/dpkg'), { recursive: true })
  write('var/lib/dpkg/status', [paragraph('libc6', 'install ok installed'), paragraph('gone', 'deinstall ok config-files')].join('\n'))
  const bill = buildBillOfMaterials(folder, readDebianStatus(folder), { node: '24.21.0', openssl: '3.5.2', v8: '13.6' })
  rmSync(folder, { recursive: true })
  expect(bill).toMatchObject({
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    metadata: { component: { name: 'vitascope', version: '0.1.0' } },
    components: [
      { purl: 'pkg:deb/debian/libc6@2.36-9%2Bdeb12u10?arch=amd64' },
      { type: 'platform', purl: 'pkg:generic/node@24.21.0', cpe: 'cpe:2.3:a:nodejs:node.js:24.21.0:*:*:*:*:*:*:*' },
      { type: 'library', purl: 'pkg:generic/openssl@3.5.2', cpe: 'cpe:2.3:a:openssl:openssl:3.5.2:*:*:*:*:*:*:*' },
      { purl: 'pkg:npm/%40scope/two@2.0.0', licenses: [{ license: { name: 'MIT' } }] },
      { purl: 'pkg:npm/one@1.0.0', hashes: [{ alg: 'SHA-512', content: '000102' }] },
    ],
  })
})
