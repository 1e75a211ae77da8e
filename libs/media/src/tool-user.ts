import { randomInt } from 'node:crypto'
import { lchown, lstat, mkdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { EncodeFailed } from './media-errors.ts'

/** Ids that belong to nobody else, each the id of a user and of a group. */
export interface ToolUsers {
  first: number
  count: number
}

/**
 * By the conventions of systemd (UIDs and GIDs, "unused") these are neither people's, services' nor containers'. The second lot lies within what a
 * container with 65,536 ids has.
 */
export const toolUsers: readonly ToolUsers[] = [
  { first: 1_879_048_192, count: 268_304_384 },
  { first: 60_706, count: 478 },
]

/**
 * Makes a folder that the locked-up tool can write to, and answers whose it is: each folder of a run has a user of its own, whose are the folders
 * in it too, so that no tool is a user that another one is at the same time. A link in its place, which only a tool gone bad could have left, is not
 * followed.
 */
export async function makeFolderFor({ users }: { users: ToolUsers | undefined }, folder: string): Promise<number | undefined> {
  await mkdir(folder, { recursive: true })
  const there = await lstat(folder)
  if (!there.isDirectory()) throw new EncodeFailed('incomplete', 'a link stands where a folder should be')
  if (!users) return undefined
  if (isOneOf(users, there.uid)) return there.uid
  const around = await lstat(dirname(resolve(folder)))
  const user = isOneOf(users, around.uid) ? around.uid : nextOf(users)
  await lchown(folder, user, user)
  return user
}

function isOneOf({ first, count }: ToolUsers, id: number): boolean {
  return id >= first && id < first + count
}

/** Two processes begin at places of their own; one comes back to an id only after all others. */
function nextOf({ first, count }: ToolUsers): number {
  return first + ((begin + given++) % count)
}

const begin = randomInt(2 ** 31)
let given = 0
