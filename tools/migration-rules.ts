/**
 * Patterns that break services of the previous version, which run alongside the new ones, or that
 * lock a large table for long. Tables created in the same file are exempt, because they are not in
 * use yet.
 */
const RULES: readonly [RegExp, string][] = [
  [/\bdrop (table|column|view|function|type)\b/i, 'drops what services of the version before may use'],
  [/\brename\b/i, 'renames what services of the version before may use'],
  [/\balter column \S+ (set data )?type\b/i, 'gives a column another type, which rewrites the table'],
  [/\bset not null\b/i, 'sets a column not null, which the version before may leave empty'],
  [
    /\badd column\b(?=.*\bnot null\b)(?!.*\bdefault\b)/i,
    'adds a column that is not null and has no default, which the version before does not fill',
  ],
  [
    /\badd (constraint|check|foreign key|unique|primary key)\b(?!.*\bnot valid\b)/i,
    'adds a constraint that is not `not valid`, for which the whole table is read under a lock',
  ],
]

/** Returns the problems of a migration that runs while services are active, as sentences. */
export function migrationProblems(sql: string): string[] {
  const text = sql.replaceAll(/--.*/g, '')
  const made = new Set([...text.matchAll(/\bcreate (?:unlogged )?table (?:if not exists )?(\w+)/gi)].map(([, table]) => table))
  return text.split(';').flatMap((raw) => {
    const statement = raw.replaceAll(/\s+/g, ' ').trim()
    const [, altered] = /^alter table (?:if exists )?(?:only )?(\w+)/i.exec(statement) ?? []
    const [, indexed] = /^create (?:unique )?index (?:if not exists )?(?:\w+ )?on (?:only )?(\w+)/i.exec(statement) ?? []
    if (indexed !== undefined)
      return made.has(indexed) ? [] : [`makes an index of ${indexed}, which takes no writes meanwhile: ${statement}`]
    const isRuled = (altered !== undefined && !made.has(altered)) || /^drop /i.test(statement)
    return isRuled ? RULES.filter(([rule]) => rule.test(statement)).map(([, why]) => `${why}: ${statement}`) : []
  })
}
