import { createHash } from 'node:crypto'
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, runCommand } from './run-command.ts'

/**
 * Installs packages of Python into an environment below .cache once, and returns the folder of its
 * programs. Throws an error with a hint if Python or the packages are not available.
 */
export async function installPythonPackages(name: string, packages: readonly string[]): Promise<string> {
  const hash = createHash('sha256').update(packages.join('\n')).digest('hex').slice(0, 16)
  const environment = join(root, '.cache', `${name}-${hash}`)
  const bin = join(environment, 'bin')
  const stamp = join(environment, '.complete')
  if (existsSync(stamp)) return bin
  rmSync(environment, { recursive: true, force: true })
  console.log(`Installing ${packages.join(', ')} …`)
  await runStep('python3', ['-m', 'venv', environment], 'Python 3.10 or newer with venv is required: apt-get install python3-venv')
  const pip = ['install', '--quiet', '--disable-pip-version-check', ...packages]
  await runStep(join(bin, 'pip'), pip, `pip could not install ${packages.join(', ')}`)
  writeFileSync(`${stamp}.new`, '')
  renameSync(`${stamp}.new`, stamp)
  return bin
}

async function runStep(command: string, args: readonly string[], hint: string): Promise<void> {
  const { code, output } = await runCommand(command, args)
  if (code !== 0) throw new Error(`${hint}\n${output}`)
}
