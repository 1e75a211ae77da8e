import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** Root folder of the checkout. */
export const root = dirname(dirname(import.meta.dirname))

/** Exit code of a program, and its combined output. */
export interface CommandResult {
  code: number
  output: string
}

/** Environment in which programs of the installed packages and the current Node come first. */
export const toolEnvironment: NodeJS.ProcessEnv = {
  ...process.env,
  PATH: [dirname(process.execPath), join(root, 'node_modules', '.bin'), process.env['PATH'] ?? ''].join(delimiter),
}

/**
 * Runs a program to its end, by default in the root of the checkout. Returns the code 127 for a
 * missing program, as a shell does.
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd = root,
): Promise<CommandResult> {
  const child = spawn(command, args, { cwd, env: { ...toolEnvironment, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const parts: Buffer[] = []
  child.stdout.on('data', (part: Buffer) => parts.push(part))
  child.stderr.on('data', (part: Buffer) => parts.push(part))
  try {
    const [code] = (await once(child, 'close')) as [number | null]
    return { code: code ?? 1, output: Buffer.concat(parts).toString().trim() }
  } catch (error) {
    return { code: 127, output: `${command}: ${(error as Error).message}` }
  }
}

/** Returns true if the module is the main program. */
export function isProgram(url: string): boolean {
  return process.argv[1] !== undefined && url === pathToFileURL(process.argv[1]).href
}
