import { mkdirSync, renameSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openPromise } from 'yauzl'

/**
 * Writes members of a zip file into a folder, as executables with the names in `members`. Throws if one is
 * missing.
 */
export async function extractFromZip(file: string, members: Readonly<Record<string, string>>, folder: string): Promise<void> {
  const missing = new Set(Object.keys(members))
  const zip = await openPromise(file)
  for await (const entry of zip.eachEntry()) {
    const name = members[entry.fileName]
    if (name === undefined) continue
    const target = join(folder, name)
    mkdirSync(dirname(target), { recursive: true })
    // The file is written under a temporary name and then renamed, so that a concurrent run never
    // finds an incomplete file.
    await writeFile(`${target}.${process.pid}`, await zip.openReadStreamPromise(entry), { mode: 0o755 })
    renameSync(`${target}.${process.pid}`, target)
    missing.delete(entry.fileName)
  }
  if (missing.size > 0) throw new Error(`${file} has no member ${[...missing].join(', ')}`)
}
