import { type FieldError, invalid } from '@vitascope/errors'

/**
 * Returns the problems of a text. Bounds are in characters (code points). PostgreSQL cannot store
 * NUL, and UTF-8 cannot encode a lone surrogate.
 */
export function checkText(field: string, text: string, { min = 0, max }: { min?: number; max: number }): FieldError[] {
  if (!isStorable(text)) return [{ field, message: 'must be well-formed Unicode without NUL' }]
  if (min > 0 && text.trim() === '') return [{ field, message: 'must not be blank' }]
  // Only a text of more than `max` UTF-16 units can have more than `max` characters.
  if (text.length > max && [...text].length > max) return [{ field, message: `must have at most ${max} characters` }]
  return []
}

export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Returns the fields of a mask. Throws `invalid` for unknown fields. */
export function maskOf<Field extends string>(mask: readonly string[] | undefined, changeable: readonly Field[]): ReadonlySet<Field> {
  const known = new Set<Field>()
  const problems: FieldError[] = []
  for (const path of mask ?? []) {
    const field = changeable.find((name) => name === path)
    if (field) known.add(field)
    else problems.push({ field: 'update_mask', message: `names no field: ${path.slice(0, 100)}` })
  }
  if (problems.length > 0) throw invalid(problems)
  return known
}
