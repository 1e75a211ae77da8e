import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** Result of a command of the product. */
export interface CommandResult {
  code: number | null
  stdout: string
  stderr: string
}

/** A command of the product that runs. */
export interface RunningCommand {
  kill(signal: NodeJS.Signals): void
  ended: Promise<CommandResult>
}

const CLI = fileURLToPath(new URL('../../apps/cli/src/main.ts', import.meta.url))

/** Starts a command of the product, as `npm run NAME` does, with only these Vitascope settings. */
export function startCommand(name: string, args: readonly string[], env: Record<string, string>): RunningCommand {
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('VITASCOPE_')))
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', CLI, name, ...args], {
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (data: Buffer) => (output.stdout += data))
  child.stderr.on('data', (data: Buffer) => (output.stderr += data))
  const waitForEnd = async () => {
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, ...output }
  }
  return { kill: (signal) => void child.kill(signal), ended: waitForEnd() }
}

/** Runs a command like `startCommand`, and returns its result. */
export function runCommand(name: string, args: readonly string[], env: Record<string, string>): Promise<CommandResult> {
  return startCommand(name, args, env).ended
}
