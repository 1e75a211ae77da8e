/**
 * Returns the names of the values that both `form` and `stored` have changed since `base`, to different ones. For lists,
 * the names are the positions. If one of them has added or removed items, every change of the form is a conflict.
 */
export function listConflicts<T extends object>(form: T, base: T, stored: T): (keyof T)[] {
  if (isSame(stored, base)) return []
  const changes = listChanges(form, base)
  if (hasOtherLength(form, base) || hasOtherLength(stored, base)) return changes
  return changes.filter((name) => !isSame(stored[name], base[name]) && !isSame(form[name], stored[name]))
}

/**
 * Returns the stored values, with those that the form has changed since `base`. If one of them has added or removed items
 * of a list, it returns the form.
 */
export function mergeChanges<T extends object>(form: T, base: T, stored: T): T {
  if (hasOtherLength(form, base) || hasOtherLength(stored, base)) return form
  const merged = structuredClone(stored)
  for (const name of listChanges(form, base)) merged[name] = form[name]
  return merged
}

/** Returns the names of the values that differ. */
export function listChanges<T extends object>(form: T, base: T): (keyof T)[] {
  const names = new Set([...Object.keys(form), ...Object.keys(base)]) as Set<keyof T & string>
  return [...names].filter((name) => !isSame(form[name], base[name]))
}

function hasOtherLength(values: object, base: object): boolean {
  return Object.keys(values).length !== Object.keys(base).length
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
