/** A message of the platform about a field, and its translation with `$1` for the first group. */
export type FieldRule = readonly [message: RegExp, text: string]

let rules: readonly FieldRule[] = []

/** Sets the translations of the current language. English needs none. */
export function setFieldRules(next: readonly FieldRule[]): void {
  rules = next
}

/** Returns the text for a message of the platform about a field. Messages without a translation stay in English. */
export function translateFieldMessage(message: string): string {
  const rule = rules.find(([pattern]) => pattern.test(message))
  return rule ? message.replace(rule[0], rule[1]) : message
}
