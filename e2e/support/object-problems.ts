import { runCommand } from './command.ts'

/**
 * Returns the objects without a row (`orphan`) and the rows without objects (`missing`) that
 * `npm run sweep -- --dry-run` reports, including new ones: `orphan uploads/1/a.mp4`. Some are normal
 * while work is active. When all work has ended, there must be none. Throws if the command fails.
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
