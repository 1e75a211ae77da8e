import { chmodSync, chownSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ROTATION_STEPS, type RotationStep, rotateKeys } from '@vitascope/security'

// node apps/auth/src/rotate-key.ts NAME STEP [--file FILE]: one step of a rotation. `-` reads the
// file from the standard input and writes it to the standard output.
const FORMATS = { 'master-key': 'lines', 'token-keys': 'tokens', 'upload-signing-key': 'lines' } as const
const USAGE = `usage: rotate-key NAME STEP [--file FILE], with NAME one of ${Object.keys(FORMATS).join(', ')}, and STEP one of ${ROTATION_STEPS.join(', ')}\n`

process.exitCode = run(process.argv.slice(2))

function run(args: readonly string[]): number {
  const request = readRequest(args)
  if (request === undefined) {
    process.stderr.write(USAGE)
    return 2
  }
  const { name, step, file } = request
  try {
    const rotated = rotateKeys(readFileSync(file === '-' ? 0 : file, 'utf8'), FORMATS[name], step)
    if (file === '-') process.stdout.write(rotated)
    else replaceFile(file, rotated)
    return 0
  } catch (error) {
    process.stderr.write(`${name}: ${(error as Error).message}\n`)
    return 1
  }
}

function readRequest(args: readonly string[]): { name: keyof typeof FORMATS; step: RotationStep; file: string } | undefined {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: { file: { type: 'string' } }, allowPositionals: true })
    const name = Object.keys(FORMATS).find((known) => known === positionals[0]) as keyof typeof FORMATS | undefined
    const step = ROTATION_STEPS.find((known) => known === positionals[1])
    if (name === undefined || step === undefined || positionals.length > 2) return undefined
    return { name, step, file: values.file ?? join(resolve(process.env['VITASCOPE_DATA_DIR'] || './data'), 'secrets', name) }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS')) return undefined
    throw error
  }
}

/** Replaces a file atomically. The new file has the mode and the owner of the old one. */
function replaceFile(file: string, text: string): void {
  const { mode, uid, gid } = statSync(file)
  const next = `${file}.next`
  writeFileSync(next, text, { mode: 0o600, flush: true })
  chmodSync(next, mode)
  chownSync(next, uid, gid)
  renameSync(next, file)
}
