import { createHash } from 'node:crypto'
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { quickGoBuild } from '../../tools/lib/go-build.ts'
import { root, runCommand } from '../../tools/lib/run-command.ts'
import { run } from './run.ts'

/** Programs that were built for clusters, by version. */
export const BUILT = join(root, '.cache/vitascope/cluster')

/** A module of this folder that is one program. */
export interface GoProgram {
  name: string
  /** Folder with main.go, go.mod, and go.sum if it has dependencies. */
  source: string
  /** Additional input of the build, besides the source. */
  version?: string
  linkerFlags?: readonly string[]
  /** Printed before a build that takes minutes. */
  announcement?: string
}

/** Returns a digest of the source and the compiler. Throws if there is no compiler. */
export async function computeDigest({ source, version }: GoProgram): Promise<string> {
  const go = await runCommand('go', ['version'])
  if (go.code !== 0) throw new Error('a cluster requires Go 1.24 or newer to build the servers of Kubernetes')
  const inputs = ['go.mod', 'go.sum', 'main.go'].map((name) => join(source, name)).filter((file) => existsSync(file))
  const hash = createHash('sha256').update(Buffer.concat(inputs.map((file) => readFileSync(file))))
  return hash
    .update([version ?? '', go.output].join(' ').trim())
    .digest('hex')
    .slice(0, 16)
}

/**
 * Builds the program without cgo unless it exists, so that it runs in an empty image. Returns its
 * path. Throws the compiler's output.
 */
export async function ensureGoProgram(program: GoProgram): Promise<string> {
  const target = join(BUILT, `${program.name}-${await computeDigest(program)}`, program.name)
  if (!existsSync(target)) await buildGoProgram(program, target)
  return target
}

/** Builds the program and stores it at `target`. */
export async function buildGoProgram({ name, source, linkerFlags = [], announcement }: GoProgram, target: string): Promise<void> {
  console.log(announcement ?? `${name} is being built: go build …`)
  mkdirSync(dirname(target), { recursive: true })
  const args = ['build', ...quickGoBuild(linkerFlags), '-o', `${target}.new`, '.']
  const { code, output } = await runCommand('go', args, goEnvironment(), source)
  if (code !== 0) throw new Error(`${name} could not be built:\n${output.split('\n').slice(-10).join('\n')}`)
  chmodSync(`${target}.new`, 0o755)
  renameSync(`${target}.new`, target)
}

/** Builds a program of a public module at a version. Go verifies its checksum. */
export async function ensureGoModule(name: string, module: string): Promise<string> {
  const folder = join(BUILT, module.replaceAll('/', '_'))
  const target = join(folder, name)
  if (existsSync(target)) return target
  console.log(`${name} is being built: go install ${module} …`)
  mkdirSync(folder, { recursive: true })
  const { code, output } = await runCommand('go', ['install', ...quickGoBuild(), module], {
    ...goEnvironment(),
    GOBIN: folder,
  })
  if (code !== 0) throw new Error(`${name} could not be built:\n${output.split('\n').slice(-10).join('\n')}`)
  return target
}

/**
 * Builds a program of a module that `go install` rejects because of `replace` directives. It builds in
 * a copy of the source, with the versions of its go.mod. `command` is the folder of the program.
 */
export async function ensureGoCommand(name: string, module: string, command: string): Promise<string> {
  const target = join(BUILT, module.replaceAll('/', '_'), name)
  if (existsSync(target)) return target
  console.log(`${name} is being built: go build ${module} …`)
  const { code, output } = await runCommand('go', ['mod', 'download', '-json', module], goEnvironment())
  if (code !== 0) throw new Error(`${module} could not be fetched:\n${output}`)
  const copy = mkdtempSync(join(tmpdir(), 'vitascope-go-'))
  try {
    // Go may print its downloads before the JSON.
    const { Dir } = JSON.parse(output.slice(output.indexOf('{'))) as { Dir: string }
    cpSync(Dir, copy, { recursive: true })
    await run('chmod', '-R', 'u+w', copy)
    await buildGoProgram({ name, source: join(copy, command) }, target)
  } finally {
    rmSync(copy, { recursive: true })
  }
  return target
}

function goEnvironment(): NodeJS.ProcessEnv {
  return { CGO_ENABLED: '0', GOTOOLCHAIN: 'local', GOFLAGS: [process.env['GOFLAGS'] ?? '', '-buildvcs=false'].join(' ').trim() }
}
