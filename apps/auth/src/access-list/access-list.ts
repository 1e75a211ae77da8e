import type { Call } from '@vitascope/grpc'
import { requireAuthenticated, requireService } from '@vitascope/principal'
import { inspection } from '../rules/input.ts'

/** A permission that an API key can hold. */
export interface Resource {
  aclId: number
  /** Such as `video::post`. */
  name: string
  /** If false, only keys of super users and system users may hold it. */
  openToUsers: boolean
}

export type NewResource = Omit<Resource, 'aclId'>

export interface AccessListStore {
  list(signal: AbortSignal): Promise<Resource[]>
  register(resources: readonly NewResource[], signal: AbortSignal): Promise<void>
}

const MAX_RESOURCES = 1_000

export function listResources(accessList: AccessListStore, { principal, signal }: Call): Promise<Resource[]> {
  requireAuthenticated(principal)
  return accessList.list(signal)
}

export async function registerResources(
  accessList: AccessListStore,
  resources: readonly NewResource[],
  { principal, signal }: Call,
): Promise<void> {
  requireService(principal)
  const input = inspection()
  if (resources.length > MAX_RESOURCES) input.note('resources', `must be ${MAX_RESOURCES} at most`)
  const bad = resources.find(({ name }) => !isResourceName(name))
  if (bad) input.note('resources', 'must be named like video::post')
  if (new Set(resources.map(({ name }) => name)).size < resources.length) input.note('resources', 'must not repeat a name')
  input.check()
  await accessList.register(resources, signal)
}

export function isResourceName(name: string): boolean {
  return /^[a-z][a-z0-9-]{0,60}::[a-z]{1,16}$/.test(name)
}
