import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommand } from './run-command.ts'

/** A difference between two OpenAPI documents, as oasdiff prints it. */
export interface Difference {
  /** Name of the rule, such as `response-required-property-removed`. */
  id: string
  text: string
  /** 1: compatible, 2: can break clients, 3: breaks clients. */
  level: number
  operation?: string
  path?: string
}

/** Returns the differences between two documents. `program` is the path of oasdiff. */
export async function compareDocuments(program: string, old: object, current: object): Promise<Difference[]> {
  const folder = mkdtempSync(join(tmpdir(), 'vitascope-oasdiff-'))
  try {
    const files = [old, current].map((document, nth) => {
      const file = join(folder, `${nth}.json`)
      writeFileSync(file, JSON.stringify(document))
      return file
    })
    const args = ['changelog', '--flatten-allof', '--format', 'json', '--allow-external-refs=false', ...files]
    // Runs in the temporary folder, so that oasdiff finds no settings file.
    const { code, output } = await runCommand(program, args, {}, folder)
    if (code !== 0) throw new Error(`oasdiff ended with ${code}: ${output}`)
    return output === '' ? [] : (JSON.parse(output) as Difference[])
  } finally {
    rmSync(folder, { recursive: true })
  }
}
