import { randomInt } from 'node:crypto'
import { chmod, lchown, lstat, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { EncodeError } from './media-errors.ts'

/** A range of otherwise unused ids. Each is used as a user id and as a group id. */
export interface ToolUsers {
  first: number
  count: number
}

/**
 * By systemd's conventions (UIDs and GIDs, "unused") these ids are not used by people, services or containers. The
 * second range is within the 65,536 ids of a container.
 */
export const toolUsers: readonly ToolUsers[] = [
  { first: 1_879_048_192, count: 268_304_384 },
  { first: 60_706, count: 478 },
]

/**
 * Creates the folder of a run, which the tool can read, and its writable subfolders. Returns the user of the run: the
 * owner of folders that an earlier run used, so that several runs can share them; else a user that no other
 * concurrent run has.
 */
export async function createRunFolders(
  { users }: { users: ToolUsers | undefined },
  scratch: string,
  writes: readonly string[],
): Promise<number | undefined> {
  await mkdir(scratch, { recursive: true })
  const folders = writes.map((name) => join(scratch, name))
  for (const folder of folders) await mkdir(folder, { recursive: true })
  const owners = await Promise.all([scratch, ...folders].map(requireFolderOwner))
  if (!users) return undefined
  // mkdtemp creates a folder that other users cannot read.
  await chmod(scratch, 0o755)
  const user = owners.slice(1).find((owner) => isToolUser(users, owner)) ?? nextUser(users)
  for (const folder of folders) await lchown(folder, user, user)
  return user
}

/** Returns the owner of a folder. Throws for a link in place of a folder, which only a compromised tool can have created. */
async function requireFolderOwner(folder: string): Promise<number> {
  const stats = await lstat(folder)
  if (!stats.isDirectory()) throw new EncodeError('incomplete', 'a symbolic link is in place of a folder')
  return stats.uid
}

function isToolUser({ first, count }: ToolUsers, id: number): boolean {
  return id >= first && id < first + count
}

/** Returns the next user. Processes start at random positions, and an id is reused only after all others. */
function nextUser({ first, count }: ToolUsers): number {
  return first + ((begin + issued++) % count)
}

const begin = randomInt(2 ** 31)
let issued = 0
