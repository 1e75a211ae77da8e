import { type Context, UsageError } from '../context.ts'
import { printObject, printRows } from '../output.ts'

const MAX_ROWS = 10_000

/** Lists the keys of a user. Only system keys may do this. */
export async function listKeys(userId: string, { vitascope, output, signal }: Context): Promise<void> {
  const rows: Record<string, unknown>[] = []
  const pages = vitascope.list('listUserApiKeys', { path: { user_id: userId }, signal }).pages()
  for await (const page of pages) rows.push(...toRows(page, { user_id: userId }))
  printRows(output, rows, ['key', 'application_name', 'expires', 'last_used'])
}

export interface KeyFlags {
  name: string
  preset?: 'upload' | 'playback' | 'read' | 'admin'
  resource?: string[]
  expires?: string
}

export async function createKey(
  userId: string,
  { name, preset, resource, expires }: KeyFlags,
  { vitascope, output, signal }: Context,
): Promise<void> {
  if (preset === undefined && resource === undefined) throw new UsageError('set --preset, or --resource for each resource')
  const payload = {
    application_name: name,
    ...(preset !== undefined && { preset }),
    ...(resource !== undefined && { resources: resource }),
    ...(expires !== undefined && { expiry_date: expires }),
  }
  printObject(output, { ...(await vitascope.call('createApiKey', { path: { user_id: userId }, payload, signal })) })
}

export async function revokeKey(key: string, { vitascope, output, signal }: Context): Promise<void> {
  printObject(output, { ...(await vitascope.call('revokeApiKey', { path: { api_key: key }, signal })) })
}

export async function listUsers({ vitascope, output, signal }: Context): Promise<void> {
  const users = await vitascope.list('listUsers', { signal }).toArray(MAX_ROWS)
  printRows(output, users, ['user_id', 'email', 'first_name', 'last_name', 'user_type', 'status'])
}

/** A page has a map from keys to their fields. */
function toRows(page: object, more: Record<string, unknown>): Record<string, unknown>[] {
  const keys: unknown = Reflect.get(page, 'acl')
  if (typeof keys !== 'object' || keys === null) return []
  return Object.entries(keys).map(([key, fields]: [string, unknown]) => ({ key, ...more, ...(typeof fields === 'object' ? fields : {}) }))
}
