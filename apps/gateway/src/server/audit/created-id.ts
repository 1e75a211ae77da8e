import { Reply } from '../route/reply.ts'
import type { Route } from '../route/route.ts'

/**
 * Returns the id of the record that a POST created, if the response has it: in `id`, in `created`
 * (also inside `message`), or in the field named after its noun.
 */
export function findCreatedId(
  { verb, paths }: Pick<Route, 'verb' | 'paths'>,
  params: Readonly<Record<string, unknown>>,
  result: unknown,
): string {
  const body = result instanceof Reply ? result.body : result
  if (verb !== 'post' || typeof body !== 'object' || body === null) return ''
  const nouns = (paths[0] ?? '').split('/').filter((part) => /^[a-z-]+$/.test(part))
  const ids = [
    readField(body, `${nouns.at(-1)?.replaceAll('-', '_')}_id`),
    readField(body, 'id'),
    readField(body, 'created'),
    readField(readField(body, 'message'), 'created'),
    readField(body, `${nouns[0]?.replaceAll('-', '_')}_id`),
    Array.isArray(body) && body.length === 1 ? body[0] : undefined,
  ]
  const paramValues = new Set(Object.values(params))
  const created = ids.find((id) => typeof id === 'string' && /^\d{1,19}$/.test(id) && !paramValues.has(id))
  return typeof created === 'string' ? created : ''
}

function readField(body: unknown, name: string): unknown {
  return typeof body === 'object' && body !== null && Object.hasOwn(body, name) ? (body as Record<string, unknown>)[name] : undefined
}
