import { spawnSync } from 'node:child_process'

/**
 * Rules of squawk that do not apply: the migrator sets the timeouts, and the types of columns are
 * chosen by their values.
 */
const EXCLUDED = [
  'require-lock-timeout',
  'require-statement-timeout',
  'prefer-bigint-over-int',
  'prefer-bigint-over-smallint',
  'prefer-robust-stmts',
]

interface Finding {
  line: number
  rule_name: string
  message: string
}

/**
 * Returns the problems of a migration that runs while services are active, as sentences: statements
 * that break services of the previous version, which run alongside the new ones, or that lock a
 * large table for long. squawk finds them. Tables created in the same file are exempt.
 */
export function migrationProblems(sql: string): string[] {
  const options = ['--reporter', 'json', '--assume-in-transaction', '--exclude', EXCLUDED.join(',')]
  const { status, stdout, stderr, error } = spawnSync('squawk', options, { input: sql, encoding: 'utf8' })
  if (error) throw new Error(`squawk cannot be started: ${error.message}`)
  // Status 1 means that there are findings.
  if (status !== 0 && status !== 1) throw new Error(`squawk failed with status ${status}: ${stderr}`)
  const findings = JSON.parse(stdout || '[]') as Finding[]
  return [...findings.map(({ line, rule_name, message }) => `line ${line + 1}: ${rule_name}: ${message}`), ...droppedParts(sql)]
}

/** Returns a problem for each dropped function, view and type, for which squawk has no rule. */
function droppedParts(sql: string): string[] {
  const statements = sql.replaceAll(/--.*/g, '').split(';')
  return statements
    .map((statement) => statement.trim())
    .filter((statement) => /^drop (view|function|type)\b/i.test(statement))
    .map((statement) => `ban-drop: services of the previous version may use what this drops: ${statement}`)
}
