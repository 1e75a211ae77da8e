import { runCommand } from './command.ts'

/**
 * Returns the current objects without a row and rows without objects, by name. After a while there
 * must be none (invariant I6).
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
