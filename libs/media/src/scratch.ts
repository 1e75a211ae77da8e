import { chmod, constants, copyFile, link, mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from './sandbox.ts'

/** The only name of the source that tools see. */
export const sourceName = 'source'

/**
 * Links the source into the scratch folder under a server-generated name, or copies it if that is not possible. The
 * folder belongs to the worker; tools can read it and write only to their own subfolders.
 */
export async function placeSource(source: string, scratch: string, sandbox: Sandbox): Promise<void> {
  await mkdir(scratch, { recursive: true })
  const place = join(scratch, sourceName)
  if (source === place) return
  const [from, there] = await Promise.all([stat(source), stat(place).catch(() => undefined)])
  if (there && there.dev === from.dev && there.ino === from.ino) return
  if (there && there.size === from.size && there.mtimeMs >= from.mtimeMs) return
  await rm(place, { force: true })
  const readable = sandbox.users === undefined || (from.mode & 0o004) !== 0
  if (readable && (await link(source, place).then(yes, no))) return
  await copyFile(source, place, constants.COPYFILE_FICLONE)
  if (!readable) await chmod(place, 0o644)
}

const yes = () => true
const no = () => false
