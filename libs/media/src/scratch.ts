import { chown, constants, copyFile, link, lstat, realpath, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from './sandbox.ts'
import { makeFolderFor } from './tool-user.ts'

/** The one name by which a tool knows the source. */
export const sourceName = 'source'

/** Puts the source into the scratch folder under its server-made name: a second name of the same file where possible, else a copy. */
export async function placeSource(source: string, scratch: string, sandbox: Sandbox): Promise<void> {
  const user = await makeFolderFor(sandbox, scratch)
  const place = join(scratch, sourceName)
  if (source === place) return
  const [from, there] = await Promise.all([stat(source), stat(place).catch(() => undefined)])
  if (there && there.dev === from.dev && there.ino === from.ino) return
  if (there && there.size === from.size && there.mtimeMs >= from.mtimeMs) return
  await rm(place, { force: true })
  const readable = user === undefined || (from.mode & 0o004) !== 0
  if (readable && (await link(source, place).then(yes, no))) return
  await copyFile(source, place, constants.COPYFILE_FICLONE)
  if (user !== undefined) await chown(place, user, user)
}

/** Bytes of a plain file that a tool left at `path` under `folder`; 0 when it is missing or is reached through a link. */
export async function plainFileBytes(folder: string, path: string): Promise<number> {
  const [root, real, entry] = await Promise.all([
    realpath(folder),
    realpath(join(folder, path)).catch(nothing),
    lstat(join(folder, path)).catch(nothing),
  ])
  return real === join(root, path) && entry?.isFile() ? entry.size : 0
}

const nothing = () => undefined
const yes = () => true
const no = () => false
