import { access, constants } from 'node:fs/promises'

/**
 * Paths of the binary. The wrapper scripts of LibreOffice are not used, because they require a home
 * folder and a readable path.
 */
const DEFAULT_PATHS = [
  '/usr/lib/libreoffice/program/soffice.bin',
  '/usr/lib64/libreoffice/program/soffice.bin',
  '/opt/libreoffice/program/soffice.bin',
]

/**
 * Returns the path of LibreOffice: `path` (`VITASCOPE_LIBREOFFICE`), or else the first existing
 * candidate. Returns undefined if there is none, or if `path` is `off`. Throws if `path` cannot be
 * executed.
 */
export async function findOffice(path: string | undefined, candidates: readonly string[] = DEFAULT_PATHS): Promise<string | undefined> {
  if (path === 'off') return undefined
  if (path !== undefined) {
    if (await canRun(path)) return path
    throw new Error(`${path} does not exist or cannot be executed: set VITASCOPE_LIBREOFFICE to the path of soffice.bin, or to off`)
  }
  for (const candidate of candidates) if (await canRun(candidate)) return candidate
  return undefined
}

function canRun(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
