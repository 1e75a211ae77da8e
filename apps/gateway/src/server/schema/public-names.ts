import { invalid, isDomainError } from '@vitascope/errors'

/**
 * Awaits a service call and renames the fields of its validation errors to their public names:
 * `withPublicNames({ source_url: 'url' }, services.videos.uploadVideo(request, call))`.
 */
export async function withPublicNames<Answer>(names: Readonly<Record<string, string>>, answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer
  } catch (error) {
    if (!isDomainError(error) || error.kind !== 'invalid') throw error
    const fields = error.fields.map(({ field, message }) => ({ field: publicName(field, names), message }))
    throw fields.length === 0 ? error : invalid(fields, error.reason)
  }
}

function publicName(field: string, names: Readonly<Record<string, string>>): string {
  const inner = Object.keys(names).find((name) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`))
  return inner === undefined ? field : `${names[inner]}${field.slice(inner.length)}`
}
