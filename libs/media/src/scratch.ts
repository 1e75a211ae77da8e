import { chmod, constants, copyFile, link, mkdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from './sandbox.ts'

/** Name of the source in the scratch folder. Tools never get its original name. */
export const sourceName = 'source'

/**
 * Links the source into the scratch folder as `sourceName`, or copies it if that is not possible.
 * An existing link or copy of the same source is left unchanged. The folder belongs to the worker;
 * tools can read it and write only to their own subfolders.
 */
export async function linkSource(source: string, scratch: string, sandbox: Sandbox): Promise<void> {
  await mkdir(scratch, { recursive: true })
  const target = join(scratch, sourceName)
  if (source === target) return
  const [original, existing] = await Promise.all([stat(source), stat(target).catch(() => undefined)])
  if (existing && existing.dev === original.dev && existing.ino === original.ino) return
  if (existing && existing.size === original.size && existing.mtimeMs >= original.mtimeMs) return
  await rm(target, { force: true })
  const readable = sandbox.users === undefined || (original.mode & 0o004) !== 0
  if (readable && (await link(source, target).then(returnTrue, returnFalse))) return
  await copyFile(source, target, constants.COPYFILE_FICLONE)
  if (!readable) await chmod(target, 0o644)
}

const returnTrue = () => true
const returnFalse = () => false
