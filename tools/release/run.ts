import { runCommand } from '../lib/run-command.ts'

/** Runs a program to its end and returns its output. Throws its last lines if it fails. */
export async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd?: string): Promise<string> {
  const { code, output } = await runCommand(command, args, env, cwd)
  if (code === 127) throw new Error(`${command} is not installed, or failed to start: ${output}`)
  if (code !== 0)
    throw new Error(`${command} ${args.slice(0, 3).join(' ')} … ended with ${code}:\n${output.split('\n').slice(-15).join('\n')}`)
  return output
}
