import { runCommand } from './command.ts'

/**
 * Returns the objects without a row and the rows without objects, as the dry run of the sweep reports
 * them. Some are normal while work is active. When all work has ended, there must be none.
 */
export async function objectProblems(platform: { dataDir: string }, env: Record<string, string> = {}): Promise<string[]> {
  const args = ['--dry-run', '--json', '--older-than', '0']
  const { code, stdout, stderr } = await runCommand('sweep', args, { VITASCOPE_DATA_DIR: platform.dataDir, ...env })
  if (code !== 0) throw new Error(`the sweep ended with ${code}: ${stderr}`)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { kind?: string; name?: string; orphan?: { name: string } })
    .flatMap(({ kind, name, orphan }) => (kind === undefined ? [] : [`${kind} ${name ?? orphan?.name}`]))
}
