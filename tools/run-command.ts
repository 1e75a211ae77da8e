import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The checkout. */
export const root = dirname(import.meta.dirname)

/** What a program answered, both of its outputs in one. */
export interface CommandResult {
  code: number
  output: string
}

/** The programs of the installed packages come first, on the Node that runs this. */
export const toolEnvironment: NodeJS.ProcessEnv = {
  ...process.env,
  PATH: [dirname(process.execPath), join(root, 'node_modules', '.bin'), process.env['PATH'] ?? ''].join(delimiter),
}

/** Runs a program to its end, in the checkout unless another folder is named; one that is not there answers 127, as in a shell. */
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

/** True when this file is the program, and not a part of another. */
export function isProgram(url: string): boolean {
  return process.argv[1] !== undefined && url === pathToFileURL(process.argv[1]).href
}
