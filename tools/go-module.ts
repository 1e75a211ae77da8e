import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from './run-command.ts'

/** Where a Go module lies, fetched if need be: of the version that is named (`MODULE@VERSION`), or of the one that the module in a folder takes. */
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
