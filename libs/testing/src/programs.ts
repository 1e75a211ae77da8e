import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Returns the first of these programs on the PATH, in /usr/bin, or in the other folders. Returns undefined if there is none. */
export function findProgram(names: readonly string[], extraFolders: readonly string[] = []): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin', ...extraFolders]
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
