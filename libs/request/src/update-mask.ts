import { type FieldError, requireValid } from '@vitascope/errors'

/** The keys that each mask path changes, by path. */
export type MaskPaths<Fields> = ReadonlyMap<string, keyof Fields | readonly (keyof Fields)[]>

/**
 * Returns `current` with the masked fields replaced by those of `input`, the keys that the mask
 * selects, and the problems of the mask.
 */
export function applyMask<Fields extends object, Now extends Fields>(
  current: Now,
  input: Fields,
  mask: readonly string[],
  paths: MaskPaths<Fields>,
): { fields: Now; maskedKeys: ReadonlySet<keyof Fields>; problems: FieldError[] } {
  const maskedKeys = new Set(mask.flatMap((path) => paths.get(path) ?? []))
  const fields = { ...current, ...Object.fromEntries([...maskedKeys].map((key) => [key, input[key]])) }
  return { fields, maskedKeys, problems: checkMask(mask, paths) }
}

/** Returns the fields that a mask selects. Throws `invalid` for paths that are not in `changeable`. */
export function readMask<Field extends string>(mask: readonly string[] | undefined, changeable: readonly Field[]): ReadonlySet<Field> {
  const paths = new Set(mask)
  requireValid(checkMask([...paths], new Set<string>(changeable)))
  return new Set(changeable.filter((field) => paths.has(field)))
}

/** Returns a problem for each path of the mask that is not a field. */
export function checkMask(mask: readonly string[], paths: { has(path: string): boolean }): FieldError[] {
  return mask
    .filter((path) => !paths.has(path))
    .map((path) => ({ field: 'update_mask', message: `names no field: ${path.slice(0, 100).toWellFormed()}` }))
}
