/**
 * Returns the names of the values that both `form` and `stored` have changed since `base`, to different ones. For lists,
 * the names are the positions. Every change conflicts with a stored list of another length.
 */
export function listConflicts<T extends object>(form: T, base: T, stored: T): (keyof T)[] {
  const changes = listChanges(form, base)
  if (hasOtherLength(form, stored)) return changes
  return changes.filter((name) => !isSame(stored[name], base[name]) && !isSame(form[name], stored[name]))
}

/** Returns the stored values, with those that the form has changed since `base`. A list of another length is replaced. */
export function mergeChanges<T extends object>(form: T, base: T, stored: T): T {
  if (hasOtherLength(form, stored)) return form
  const merged = structuredClone(stored)
  for (const name of listChanges(form, base)) merged[name] = form[name]
  return merged
}

/** Returns the names of the values that differ. */
export function listChanges<T extends object>(form: T, base: T): (keyof T)[] {
  return (Object.keys(form) as (keyof T)[]).filter((name) => !isSame(form[name], base[name]))
}

function hasOtherLength(form: object, stored: object): boolean {
  return Object.keys(form).length !== Object.keys(stored).length
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
