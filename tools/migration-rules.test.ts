// Faults: C26
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { expect, test } from '@jest/globals'
import { root } from './lib/run-command.ts'
import { migrationProblems } from './migration-rules.ts'

/** The last migration of each folder in version 0.1.0. No database is older. */
const FIRST_VERSION: Record<string, string> = {
  'apps/analytics': '0001-initial-schema.sql',
  'apps/auth': '0001-initial-schema.sql',
  'apps/catalogue': '0003-postcode.sql',
  'apps/collaboration': '0001-initial-schema.sql',
  'apps/encoding': '0002-work-item.sql',
  'libs/postgres': '0003-failover.sql',
  'libs/queue': '0001-work-item.sql',
}

/**
 * Migrations that break a rule, each with the reason why services of the previous version still
 * work.
 */
const EXCEPTIONS: Record<string, string> = {
  'apps/catalogue/migrations/0014-job-list.sql':
    'Writes of jobs wait while the indexes are built, and none fails. A row is one encode, so the table is small.',
}

test('migrations since the first version keep services of the previous version working', () => {
  const files = ['apps', 'libs']
    .flatMap((kind) => readdirSync(join(root, kind)).map((name) => `${kind}/${name}`))
    .flatMap((path) => listMigrations(path).map((file) => ({ file, isLater: basename(file) > (FIRST_VERSION[path] ?? '') })))
  const names = files.map(({ file }) => relative(root, file))
  expect(Object.entries(FIRST_VERSION).filter(([path, name]) => !names.includes(`${path}/migrations/${name}`))).toEqual([])
  const problems = files
    .filter(({ isLater }) => isLater)
    .map(({ file }) => ({ file: relative(root, file), problems: migrationProblems(readFileSync(file, 'utf8')) }))
    .filter(({ problems }) => problems.length > 0)
  expect(problems.filter(({ file }) => EXCEPTIONS[file] === undefined)).toEqual([])
  expect(Object.keys(EXCEPTIONS).filter((file) => !problems.some((problem) => problem.file === file))).toEqual([])
})

test.each([
  ['drop table video;', 'drops'],
  ['alter table video drop column title;', 'drops'],
  ['alter table video rename column title to name;', 'renames'],
  ['alter table video alter column title type bytea;', 'changes the type'],
  ['alter table video alter column title set not null;', 'not null'],
  ['alter table video add column colour text not null;', 'not null'],
  ['alter table video add constraint c check (a > 0);', 'not valid'],
  ['create index on video (title);', 'index'],
  ['create table a (b text);\ncreate unique index a_b on video (title);', 'index'],
])('rejects %j', (sql, problem) => {
  expect(migrationProblems(sql).join()).toContain(problem)
})

test.each([
  "create table a (b text not null check (b <> ''));\ncreate index on a (b);",
  'alter table video add column colour text;\nalter table video add column size int not null default 0;',
  'alter table video add constraint c check (a > 0) not valid;\nalter table video drop constraint d;',
  '-- drop table video;\nselect 1;',
])('accepts %j', (sql) => {
  expect(migrationProblems(sql)).toEqual([])
})

function listMigrations(path: string): string[] {
  const folder = join(root, path, 'migrations')
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.sql'))
      .map((name) => join(folder, name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}
