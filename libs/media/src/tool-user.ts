import { randomInt } from 'node:crypto'
import { chmod, lchown, lstat, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { EncodeError } from './media-errors.ts'

/** A range of otherwise unused ids. Each is used as a user id and as a group id. */
export interface UserIdRange {
  first: number
  count: number
}

/**
 * By systemd's conventions (UIDs and GIDs, "unused") these ids are not used by people, services or
 * containers. The second range is within the 65,536 ids of a container.
 */
export const toolUserRanges: readonly UserIdRange[] = [
  { first: 1_879_048_192, count: 268_304_384 },
  { first: 60_706, count: 478 },
]

/**
 * Creates the folder of one sandboxed process (ffmpeg, ffprobe or a converter), which it can read,
 * and the subfolders that it can write. Returns the user id of the process: the owner of subfolders
 * that an earlier process used, so that several processes can share them; else an id that no other
 * run of this program uses. Other programs start at random ids. Returns undefined without `users`.
 * Throws `incomplete` for a link in place of a folder.
 */
export async function createRunFolders(
  { users }: { users: UserIdRange | undefined },
  scratch: string,
  writableFolders: readonly string[],
): Promise<number | undefined> {
  await mkdir(scratch, { recursive: true })
  const folders = writableFolders.map((name) => join(scratch, name))
  for (const folder of folders) await mkdir(folder, { recursive: true })
  const owners = await Promise.all([scratch, ...folders].map(requireFolderOwner))
  if (!users) return undefined
  // mkdtemp creates a folder that other users cannot read.
  await chmod(scratch, 0o755)
  const user = owners.slice(1).find((owner) => isToolUser(users, owner)) ?? nextUser(users)
  for (const folder of folders) await lchown(folder, user, user)
  return user
}

/**
 * Returns the owner of a folder. Throws for a link in place of a folder, which only a compromised
 * tool can have created.
 */
async function requireFolderOwner(folder: string): Promise<number> {
  const stats = await lstat(folder)
  if (!stats.isDirectory()) throw new EncodeError('incomplete', 'a symbolic link is in place of a folder')
  return stats.uid
}

function isToolUser({ first, count }: UserIdRange, id: number): boolean {
  return id >= first && id < first + count
}

/**
 * Returns the next user id. Each worker process starts at a random id, and reuses an id only after
 * all others.
 */
function nextUser({ first, count }: UserIdRange): number {
  return first + ((firstOffset + issued++) % count)
}

const firstOffset = randomInt(2 ** 31)
let issued = 0
