import { runCommand } from '../../tools/lib/run-command.ts'

/** Runs a program and returns its output. Throws the output on failure. */
export async function run(command: string, ...args: string[]): Promise<string> {
  const { code, output } = await runCommand(command, args)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${output}`)
  return output
}

/** Same as `run`, but ignores failures. */
export async function tryRun(command: string, ...args: string[]): Promise<void> {
  await runCommand(command, args)
}
