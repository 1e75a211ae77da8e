import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { root, runCommand } from '../../../tools/lib/run-command.ts'
import { BUILT, ensureGoModule, ensureGoProgram, type GoProgram } from '../go-program.ts'
import { run } from '../run.ts'

/** An image as an archive for containerd. */
export interface ImageArchive {
  name: string
  digest: string
  file: string
}

/** Images of a cluster by purpose. */
export const IMAGES = {
  pause: 'localhost/pause:3',
  names: 'localhost/coredns:1',
  server: 'localhost/vitascope/server:cluster',
  encoding: 'localhost/vitascope/encoding:cluster',
  postgres: 'localhost/postgres:15',
  redis: 'localhost/redis:7',
  objects: 'localhost/versitygw:1',
} as const

/**
 * Images of compose.yaml in the order of its services: our own, and replacements with the entry
 * points of the public images.
 */
export const COMPOSE_IMAGES = {
  server: IMAGES.server,
  encoding: IMAGES.encoding,
  postgres: IMAGES.postgres,
  valkey: 'localhost/valkey:8',
  objects: 'localhost/versitygw:compose',
} as const

const BUILD = ['bud', '--layers', '--quiet', '--isolation', 'chroot', '--network', 'host', '--pull-never']
const OWN = import.meta.dirname
/** Base of the dependency images. Debian 12 has the oldest supported PostgreSQL. */
const OUTSIDE_BASE = 'localhost/debian-node:bookworm'

/**
 * Builds all images by buildah, without a registry. Our own images are built by the project's
 * Dockerfile on a base of Debian packages that has the public name. Unchanged layers come from
 * buildah's cache. Returns the archives, which are kept until an image changes.
 */
export async function provideImages(): Promise<ImageArchive[]> {
  await provideProgram(IMAGES.pause, { name: 'pause', source: join(OWN, 'pause') })
  await provideProgram(IMAGES.names, { name: 'coredns', source: join(OWN, 'coredns') })
  await provideOutside({ postgres: IMAGES.postgres, redis: IMAGES.redis, objects: IMAGES.objects })
  await buildImagesFor(IMAGES, root)
  const archives: ImageArchive[] = []
  for (const name of Object.values(IMAGES)) archives.push(await archive(name))
  return archives
}

/** Builds the images of `COMPOSE_IMAGES` in the same way, and loads them into a Docker daemon. */
export async function provideComposeImages(docker: (...args: string[]) => Promise<string>): Promise<void> {
  await provideOutside({
    postgres: COMPOSE_IMAGES.postgres,
    valkey: COMPOSE_IMAGES.valkey,
    'compose-objects': COMPOSE_IMAGES.objects,
  })
  await buildImagesFor(IMAGES, root)
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-images-'))
  try {
    for (const [key, name] of Object.entries(COMPOSE_IMAGES)) {
      const file = join(folder, `${key}.tar`)
      await run('buildah', 'push', '--quiet', '--disable-compression', name, `docker-archive:${file}:${name}`)
      await docker('load', '--quiet', '--input', file)
      // Operators use the name without `localhost/`.
      if (name.startsWith('localhost/vitascope/')) await docker('tag', name, name.replace('localhost/', ''))
      rmSync(file)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Builds our own images as of a commit, by its Dockerfile. Requires the commit in the history of
 * the checkout.
 */
export async function provideCommitImages(commit: string): Promise<Record<'server' | 'encoding', ImageArchive>> {
  const names = { server: `localhost/vitascope/server:${commit}`, encoding: `localhost/vitascope/encoding:${commit}` }
  const isMissing = (await findImageId(names.server)) === undefined || (await findImageId(names.encoding)) === undefined
  if (isMissing) {
    const folder = mkdtempSync(join(tmpdir(), 'vitascope-commit-'))
    try {
      await run('git', '-C', root, 'archive', '--output', join(folder, 'source.tar'), commit)
      await run('tar', '-xf', join(folder, 'source.tar'), '-C', folder)
      rmSync(join(folder, 'source.tar'))
      await buildImagesFor(names, folder)
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
  return { server: await archive(names.server), encoding: await archive(names.encoding) }
}

/** Builds our own images from `source`, which is the folder of a checkout. */
async function buildImagesFor(names: Readonly<Record<'server' | 'encoding', string>>, source: string): Promise<void> {
  const file = join(source, 'deploy/images/Dockerfile')
  const [, base = ''] = /^ARG NODE_IMAGE=([^@\s]+)/m.exec(readFileSync(file, 'utf8')) ?? []
  await provideBase(base, /-(\w+)-slim$/.exec(base)?.[1] ?? '')
  for (const target of ['server', 'encoding'] as const) {
    console.log(`building the image of ${target} …`)
    await build(names[target], file, source, ['--target', target, '--build-arg', `NODE_IMAGE=${base}`])
  }
}

/** Builds a base image with Node from packages of a Debian release, unless it exists. */
async function provideBase(name: string, release: string): Promise<void> {
  if (await findImageId(name)) return
  console.log(`building ${name} from Debian packages …`)
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-base-'))
  try {
    const debian = join(folder, 'debian.tar')
    await run('mmdebstrap', '--variant=minbase', '--include=ca-certificates,libstdc++6', release, debian)
    const container = await run('buildah', 'from', 'scratch')
    await run('buildah', 'add', '--quiet', container, debian, '/')
    await run(
      'buildah',
      'copy',
      '--quiet',
      container,
      join(root, `node_modules/node-linux-${process.arch}/bin/node`),
      '/usr/local/bin/node',
    )
    await provideNpm(container, folder)
    await run('buildah', 'config', '--cmd', 'node', container)
    await run('buildah', 'commit', '--quiet', '--rm', container, name)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Copies npm from its package, because Node's npm package does not contain npm. */
async function provideNpm(container: string, folder: string): Promise<void> {
  await run('npm', 'pack', '--silent', '--pack-destination', folder, 'npm@11')
  const [packed = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  await run('tar', '-xzf', join(folder, packed), '-C', folder)
  await run('buildah', 'copy', '--quiet', container, join(folder, 'package'), '/usr/local/lib/node_modules/npm')
  const link = 'ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm'
  await run('buildah', 'run', '--isolation', 'chroot', container, '--', 'sh', '-c', link)
}

async function provideProgram(name: string, program: GoProgram): Promise<void> {
  const path = await ensureGoProgram(program)
  await build(name, join(OWN, 'one-program.Dockerfile'), dirname(path), ['--build-arg', `PROGRAM=${program.name}`])
}

/** Builds the dependency images; `names` maps targets to image names. */
async function provideOutside(names: Readonly<Record<string, string>>): Promise<void> {
  await provideBase(OUTSIDE_BASE, 'bookworm')
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-outside-'))
  try {
    copyFileSync(await ensureGoModule('versitygw', 'github.com/versity/versitygw/cmd/versitygw@v1.8.0'), join(folder, 'versitygw'))
    copyFileSync(join(OWN, 'postgres.sh'), join(folder, 'postgres.sh'))
    const file = join(OWN, 'outside.Dockerfile')
    for (const [target, name] of Object.entries(names))
      await build(name, file, folder, ['--target', target, '--build-arg', `NODE_IMAGE=${OUTSIDE_BASE}`])
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/**
 * Builds an image. The CA certificates of this machine are also trusted during the build, because a
 * proxy may present its own certificates. They are not part of the image.
 */
async function build(name: string, file: string, context: string, args: readonly string[]): Promise<void> {
  const certificates = '/etc/machine-certificates.crt'
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-build-'))
  const npm = join(folder, 'npmrc')
  writeFileSync(npm, `cafile=${certificates}\n`)
  const mounts = [`/etc/ssl/certs/ca-certificates.crt:${certificates}:ro`, `${npm}:/usr/local/etc/npmrc:ro`].flatMap((mount) => [
    '--volume',
    mount,
  ])
  try {
    await run('buildah', ...BUILD, ...mounts, '--file', file, ...args, '--tag', name, context)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function archive(name: string): Promise<ImageArchive> {
  const folder = join(BUILT, 'images')
  mkdirSync(folder, { recursive: true })
  const slug = name.replaceAll(/[^a-z0-9]+/g, '-')
  const id = (await findImageId(name)) ?? ''
  const file = join(folder, `${slug}-${id.slice(0, 16)}.tar`)
  if (!existsSync(file)) {
    for (const old of readdirSync(folder)) if (old.startsWith(`${slug}-`)) rmSync(join(folder, old))
    await run(
      'buildah',
      'push',
      '--quiet',
      '--disable-compression',
      '--digestfile',
      `${file}.digest`,
      name,
      `oci-archive:${file}.new:${name}`,
    )
    renameSync(`${file}.new`, file)
  }
  return { name, digest: readFileSync(`${file}.digest`, 'utf8').trim(), file }
}

async function findImageId(name: string): Promise<string | undefined> {
  const { code, output } = await runCommand('buildah', ['images', '--no-trunc', '--quiet', name])
  return code === 0 ? output.replace('sha256:', '') : undefined
}
