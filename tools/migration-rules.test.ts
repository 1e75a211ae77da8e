import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from '@jest/globals'
import { migrationProblems } from './migration-rules.ts'
import { root } from './run-command.ts'

/** Of version 0.1.0, which no database was older than: the last one of each folder. */
const FIRST_VERSION: Record<string, string> = {
  'apps/analytics': '0005-live-view.sql',
  'apps/auth': '0007-key-times.sql',
  'apps/catalogue': '0110-encoding-format.sql',
  'apps/collaboration': '0002-clip.sql',
  'apps/encoding': '0021-chunk-run.sql',
  'libs/postgres': '0003-failover.sql',
  'libs/queue': '0003-work-item-weight.sql',
}

test('migrations since the first version let services of the version before go on beside them', () => {
  const files = ['apps', 'libs']
    .flatMap((kind) => readdirSync(join(root, kind)).map((name) => `${kind}/${name}`))
    .flatMap((path) => migrationsOf(path).map((file) => ({ file, isLater: basename(file) > (FIRST_VERSION[path] ?? '') })))
  expect(files.length).toBeGreaterThan(50)
  expect(
    files
      .filter(({ isLater }) => isLater)
      .flatMap(({ file }) => migrationProblems(readFileSync(file, 'utf8')).map((why) => `${file}: ${why}`)),
  ).toEqual([])
})

test.each([
  ['drop table video;', 'drops'],
  ['alter table video drop column title;', 'drops'],
  ['alter table video rename column title to name;', 'renames'],
  ['alter table video alter column title type bytea;', 'another type'],
  ['alter table video alter column title set not null;', 'not null'],
  ['alter table video add column colour text not null;', 'not null'],
  ['alter table video add constraint c check (a > 0);', 'not valid'],
  ['create index on video (title);', 'index'],
  ['create table a (b text);\ncreate unique index a_b on video (title);', 'index'],
])('%s is refused', (sql, why) => {
  expect(migrationProblems(sql).join()).toContain(why)
})

test.each([
  "create table a (b text not null check (b <> ''));\ncreate index on a (b);",
  'alter table video add column colour text;\nalter table video add column size int not null default 0;',
  'alter table video add constraint c check (a > 0) not valid;\nalter table video drop constraint d;',
  '-- drop table video;\nselect 1;',
])('%s is taken', (sql) => {
  expect(migrationProblems(sql)).toEqual([])
})

function migrationsOf(path: string): string[] {
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
