import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from './run-command.ts'

/**
 * Returns the folder of a Go module, and downloads it if necessary. The version is that of the argument
 * (`MODULE@VERSION`), or the one that the module in `within` requires.
 */
export async function moduleFolder(module: string, within?: string): Promise<string> {
  const folder = within ?? mkdtempSync(join(tmpdir(), 'vitascope-go-module-'))
  try {
    const { code, output } = await runCommand('go', ['mod', 'download', '-json', module], {}, folder)
    if (code !== 0) throw new Error(output)
    return (JSON.parse(output) as { Dir: string }).Dir
  } finally {
    if (within === undefined) rmSync(folder, { recursive: true })
  }
}
