/**
 * Patterns that break services of the previous version, which run alongside the new ones, or that
 * lock a large table for long. Tables created in the same file are exempt, because they are not in
 * use yet.
 */
const RULES: readonly [RegExp, string][] = [
  [/\bdrop (table|column|view|function|type)\b/i, 'drops an object that services of the previous version may use'],
  [/\brename\b/i, 'renames an object that services of the previous version may use'],
  [/\balter column \S+ (set data )?type\b/i, 'changes the type of a column, which rewrites the table'],
  [/\bset not null\b/i, 'sets a column not null that the previous version may leave empty'],
  [
    /\badd column\b(?=.*\bnot null\b)(?!.*\bdefault\b)/i,
    'adds a column that is not null and has no default, so the previous version cannot insert rows',
  ],
  [
    /\badd (constraint|check|foreign key|unique|primary key)\b(?!.*\bnot valid\b)/i,
    'adds a constraint without `not valid`, which scans the complete table under a lock',
  ],
]

/** Returns the problems of a migration that runs while services are active, as sentences. */
export function migrationProblems(sql: string): string[] {
  const text = sql.replaceAll(/--.*/g, '')
  const created = new Set([...text.matchAll(/\bcreate (?:unlogged )?table (?:if not exists )?(\w+)/gi)].map(([, table]) => table))
  return text.split(';').flatMap((raw) => {
    const statement = raw.replaceAll(/\s+/g, ' ').trim()
    const [, altered] = /^alter table (?:if exists )?(?:only )?(\w+)/i.exec(statement) ?? []
    const [, indexed] = /^create (?:unique )?index (?:if not exists )?(?:\w+ )?on (?:only )?(\w+)/i.exec(statement) ?? []
    if (indexed !== undefined)
      return created.has(indexed) ? [] : [`creates an index on ${indexed}, which blocks writes meanwhile: ${statement}`]
    const isChecked = (altered !== undefined && !created.has(altered)) || /^drop /i.test(statement)
    return isChecked ? RULES.filter(([rule]) => rule.test(statement)).map(([, problem]) => `${problem}: ${statement}`) : []
  })
}
