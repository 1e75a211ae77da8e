import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Ajv, type ValidateFunction } from 'ajv'

/** Returns the libraries that programs and shared libraries in the default folders need, and that are missing. */
export function missingLibraries(root: string, gnu: string): string[] {
  const libraries = join(root, 'usr/lib', gnu)
  const folders = ['usr/bin', 'usr/local/bin', `usr/lib/${gnu}`].map((path) => join(root, path))
  const files = folders.flatMap((path) =>
    readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(path, entry.name)),
  )
  const isElf = (file: string) => readFileSync(file).subarray(0, 4).toString('latin1') === '\u007fELF'
  return files.filter(isElf).flatMap((file) => {
    const dynamic = spawnSync('readelf', ['--dynamic', '--wide', file], { encoding: 'utf8' }).stdout
    const paths = [...dynamic.matchAll(/\((?:RUNPATH|RPATH)\).*\[(.*)\]/g)].flatMap(([, list = '']) => list.split(':'))
    const searched = [
      libraries,
      join(root, 'usr/lib'),
      ...paths.map((path) => join(root, path.replace('$ORIGIN', dirname(file).slice(root.length)))),
    ]
    const needed = [...dynamic.matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(([, name = '']) => name)
    return needed.filter((name) => !searched.some((path) => isFile(join(path, name)))).map((name) => `${file.slice(root.length)}: ${name}`)
  })
}

function isFile(path: string): boolean {
  return existsSync(path) && statSync(realpathSync(path)).isFile()
}

/** Starts a command with the root folder of an image, as the user of images if the test runs as root. */
export function startInside(root: string, command: readonly string[], env: Record<string, string> = {}): ChildProcess {
  const isRoot = process.getuid?.() === 0
  const script = 'mount --bind /dev "$0/dev" && mount -t proc proc "$0/proc" && exec /usr/sbin/chroot "$@"'
  const user = isRoot ? ['--userspec=10001:10001'] : []
  const namespaces = [...(isRoot ? [] : ['--map-root-user']), '--mount', '--pid', '--fork']
  return spawn('unshare', [...namespaces, 'sh', '-c', script, root, ...user, root, ...command], {
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', NODE_ENV: 'production', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // `end` kills the process group, because the change of user clears the death signal.
    detached: true,
  })
}

export function collect(child: ChildProcess): () => string {
  const parts: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part: Buffer) => parts.push(part))
  return () => Buffer.concat(parts).toString()
}

export async function runInside(root: string, command: readonly string[]): Promise<string> {
  const child = startInside(root, command)
  const output = collect(child)
  const [code] = (await once(child, 'close')) as [number]
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${output()}`)
  return output()
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const closed = once(child, 'close')
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  await closed
}

/** Returns the validator of CycloneDX 1.6, from the package of its authors. */
export function compileBillSchema(): ValidateFunction {
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-schemas-'))
  try {
    execFileSync('npm', ['pack', '--silent', '--pack-destination', folder, '@cyclonedx/cyclonedx-library@10.3.0'])
    const [packed = ''] = readdirSync(folder)
    execFileSync('tar', ['-xzf', packed], { cwd: folder })
    const read = (name: string) =>
      JSON.parse(readFileSync(join(folder, `package/res/schema/${name}.SNAPSHOT.schema.json`), 'utf8')) as object
    // The schema names formats of later drafts, which do not matter here.
    const ajv = new Ajv({ strict: false, validateFormats: false })
    for (const name of ['spdx', 'jsf-0.82']) ajv.addSchema(read(name), `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`)
    return ajv.compile(read('bom-1.6'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
