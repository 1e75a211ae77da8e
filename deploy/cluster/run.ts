import { runCommand } from '../../tools/run-command.ts'

/** Runs a program to its end and answers what it said; throws that where it failed. */
export async function run(command: string, ...args: string[]): Promise<string> {
  const { code, output } = await runCommand(command, args)
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${output}`)
  return output
}

/** The same for what may be gone already. */
export async function tryRun(command: string, ...args: string[]): Promise<void> {
  await runCommand(command, args)
}
