import { requireValid } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { requireAuthenticated, requireService } from '@vitascope/principal'

/** A permission that can be granted to an API key. */
export interface Resource {
  aclId: number
  /** For example `video::post`. */
  name: string
  /** If false, only keys of super users and system users can have the permission. */
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
  const field = 'resources'
  const names = resources.map(({ name }) => name)
  requireValid([
    ...(names.length > MAX_RESOURCES ? [{ field, message: `must have at most ${MAX_RESOURCES} items` }] : []),
    ...(names.every(isResourceName) ? [] : [{ field, message: 'must be named like video::post' }]),
    ...(new Set(names).size < names.length ? [{ field, message: 'must not repeat a name' }] : []),
  ])
  await accessList.register(resources, signal)
}

export function isResourceName(name: string): boolean {
  return /^[a-z][a-z0-9-]{0,60}::[a-z]{1,16}$/.test(name)
}
