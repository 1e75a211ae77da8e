import { access, constants } from 'node:fs/promises'

/** The program itself: the scripts around it want a home and a folder that they can walk to. */
const PLACES = [
  '/usr/lib/libreoffice/program/soffice.bin',
  '/usr/lib64/libreoffice/program/soffice.bin',
  '/opt/libreoffice/program/soffice.bin',
]

/** `path`, where given (`VITASCOPE_LIBREOFFICE`), must be there, or is `off`; else the system's; undefined where there is none. */
export async function findOffice(path: string | undefined, places: readonly string[] = PLACES): Promise<string | undefined> {
  if (path === 'off') return undefined
  if (path !== undefined) {
    if (await canRun(path)) return path
    throw new Error(`${path} is not there or cannot be run: VITASCOPE_LIBREOFFICE is the path of soffice.bin, or off`)
  }
  for (const place of places) if (await canRun(place)) return place
  return undefined
}

function canRun(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
