import type { Result, Schemas } from '@vitascope/sdk'
import { parseTime } from '../layout/format.ts'

/** A key of the list. */
export interface KeyRecord {
  key: string
  /** False for a key without permissions. The list then has no name and no times of it. */
  hasFacts: boolean
  name: string
  /** Time of the API. Empty: the key does not expire. */
  expires: string
  isExpired: boolean
  lastUsed: string
  /** Permissions such as `video::get`. */
  resources: readonly string[]
  /** True if the key has all permissions that its user may have. */
  hasEverything: boolean
}

/** Returns the keys of a user. `now` is in milliseconds since 1970. */
export function toKeyRecords(
  keys: Result<'listUserApiKeys'>['acl'],
  { grantable, now }: { grantable: readonly string[]; now: number },
): KeyRecord[] {
  return Object.entries(keys).map(([key, facts]) => {
    const resources = Object.keys(facts?.resources ?? {})
    const [owned, expires] = [new Set(resources), facts?.expires ?? '']
    return {
      ...{ key, resources, expires, name: facts?.application_name ?? '', lastUsed: facts?.last_used ?? '' },
      hasFacts: facts !== null,
      isExpired: expires !== '' && parseTime(expires) <= now,
      hasEverything: resources.length > 0 && grantable.every((name) => owned.has(name)),
    }
  })
}

/** Returns the permissions that a user of this type may have. */
export function listGrantable(accessList: Result<'listAclResources'>, userType: Schemas['User']['user_type']): string[] {
  const level = userType === 'uploader' ? 'user' : 'admin'
  return Object.values(accessList).flatMap(({ levels, resource }) => (levels.includes(level) ? [resource] : []))
}

/** Names of actions in the order of their display, with the methods that permissions have for them. */
const METHODS = { read: ['get', 'head'], create: ['post'], change: ['put', 'patch'], delete: ['delete'] }

export interface PermissionGroup {
  /** Name of an action, or a method that this version does not know. */
  action: string
  /** Objects of the action, such as `video`. */
  objects: string[]
}

/** Groups permissions such as `video::get` by their action. */
export function groupPermissions(resources: readonly string[]): PermissionGroup[] {
  const actions = Object.keys(METHODS)
  const groups = new Map<string, Set<string>>(actions.map((action) => [action, new Set()]))
  for (const resource of resources) {
    const [object = '', method = ''] = resource.split('::')
    const action = Object.entries(METHODS).find(([, methods]) => methods.includes(method))?.[0] ?? method
    groups.set(action, (groups.get(action) ?? new Set()).add(object))
  }
  return [...groups].flatMap(([action, objects]) => (objects.size > 0 ? { action, objects: [...objects] } : []))
}
