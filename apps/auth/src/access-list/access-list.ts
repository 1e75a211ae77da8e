import type { Call } from '@vitascope/grpc'
import { noGuests, onlyServices } from '../caller.ts'
import { inspection } from '../input.ts'

/** Something that a key may be allowed to do. */
export interface Resource {
  aclId: number
  /** `video::post` */
  name: string
  /** False: only keys of super users and system users may hold it. */
  openToUsers: boolean
}

export type NewResource = Omit<Resource, 'aclId'>

export interface AccessListStore {
  list(signal: AbortSignal): Promise<Resource[]>
  register(resources: readonly NewResource[], signal: AbortSignal): Promise<void>
}

const MOST_RESOURCES = 1_000

export function listResources(accessList: AccessListStore, { principal, signal }: Call): Promise<Resource[]> {
  noGuests(principal)
  return accessList.list(signal)
}

export async function registerResources(
  accessList: AccessListStore,
  resources: readonly NewResource[],
  { principal, signal }: Call,
): Promise<void> {
  onlyServices(principal)
  const input = inspection()
  if (resources.length > MOST_RESOURCES) input.note('resources', `must be ${MOST_RESOURCES} at most`)
  const bad = resources.find(({ name }) => !isResourceName(name))
  if (bad) input.note('resources', 'must be named like video::post')
  if (new Set(resources.map(({ name }) => name)).size < resources.length) input.note('resources', 'must not repeat a name')
  input.check()
  await accessList.register(resources, signal)
}

export function isResourceName(name: string): boolean {
  return /^[a-z][a-z0-9-]{0,60}::[a-z]{1,16}$/.test(name)
}
