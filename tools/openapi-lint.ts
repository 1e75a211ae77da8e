import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root, runCommand } from './lib/run-command.ts'

const SOURCE = join(root, 'tools', 'openapi-lint')
const DOCUMENT = join(root, 'docs', 'openapi.json')
/** Disables usage reports and update checks. */
const QUIET = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true', NO_COLOR: '1' }

/**
 * Returns every error and warning of Spectral's `spectral:oas` and Redocly's `recommended` rules
 * for docs/openapi.json. Returns an empty text if there is none.
 */
export async function openApiProblems(): Promise<string> {
  const bin = join(await installLinters(), 'node_modules', '.bin')
  const spectral = await runCommand(join(bin, 'spectral'), [
    ...['lint', DOCUMENT, '--ruleset', join(SOURCE, 'spectral.yaml')],
    ...['--fail-severity', 'warn', '--quiet', '--format', 'text'],
  ])
  const redocly = await runCommand(
    join(bin, 'redocly'),
    ['lint', DOCUMENT, '--config', join(SOURCE, 'redocly.yaml'), '--format', 'stylish', '--max-problems', '1000'],
    QUIET,
  )
  return [spectralProblems(spectral), redoclyProblems(redocly)].filter((text) => text !== '').join('\n')
}

function spectralProblems({ code, output }: { code: number; output: string }): string {
  return code === 0 ? '' : `Spectral: ${output === '' ? `ended with ${code}` : output}`
}

/** Redocly's exit code reflects only errors, so warnings are detected in its output. */
function redoclyProblems({ code, output }: { code: number; output: string }): string {
  return code === 0 && !/^You have \d+ warnings?/m.test(output) ? '' : `Redocly: ${output}`
}

/**
 * Returns the folder below node_modules/.cache with the linters of the lock file. Installs them if
 * it is missing.
 */
async function installLinters(): Promise<string> {
  const lock = readFileSync(join(SOURCE, 'package-lock.json'))
  const folder = join(root, 'node_modules', '.cache', `openapi-lint-${createHash('sha256').update(lock).digest('hex').slice(0, 16)}`)
  if (existsSync(folder)) return folder
  const staging = `${folder}.${process.pid}`
  mkdirSync(staging, { recursive: true })
  try {
    for (const name of ['package.json', 'package-lock.json']) cpSync(join(SOURCE, name), join(staging, name))
    const args = ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']
    const { code, output } = await runCommand('npm', args, {}, staging)
    if (code !== 0) throw new Error(`the linters of the API document could not be installed: npm ci ended with ${code}\n${output}`)
    renameSync(staging, folder)
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
  return folder
}
