import { invalid, isDomainError } from '@vitascope/errors'

/** Public names of the paging fields of list requests. */
export const PAGE_NAMES: PublicNames = { page_token: 'cursor', skip: 'start', page_size: 'limit' }

/** Public names by proto name, such as `{ source_url: 'url' }`. All other fields have one name. */
export type PublicNames = Readonly<Record<string, string>>

/** Awaits the result of a handler and renames the fields of validation errors to their public names. */
export async function withPublicNames<Result>(names: PublicNames, result: Promise<Result>): Promise<Result> {
  try {
    return await result
  } catch (error) {
    if (!isDomainError(error) || error.kind !== 'invalid') throw error
    const fields = error.fields.map(({ field, message }) => ({ field: publicName(field, names), message }))
    throw fields.length === 0 ? error : invalid(fields, error.reason)
  }
}

function publicName(field: string, names: PublicNames): string {
  const inner = Object.keys(names).find((name) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`))
  return inner === undefined ? field : `${names[inner]}${field.slice(inner.length)}`
}
