import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { COMMANDS } from './commands.ts'
import { formatHelp } from './help.ts'

test('the overview lists every command with its summary', () => {
  for (const [name, { summary }] of Object.entries(COMMANDS)) expect(formatHelp()).toMatch(new RegExp(`^  ${name} +${summary}$`, 'm'))
})

test('the help of a command has its synopsis and each of its options', () => {
  expect(formatHelp('backup')).toMatch(/^usage: vitascope backup --to DIR \[--keep N\] \[--without-secrets\]$/m)
  expect(formatHelp('backup')).toMatch(/^ {2}--without-secrets {2}leaves out the keys/m)
  expect(formatHelp('reconcile')).toMatch(/^usage: vitascope reconcile$/m)
})

test.each(Object.entries(COMMANDS))('the programs of %s exist', (_, { programs }) => {
  for (const { path } of programs) expect([path, existsSync(join(import.meta.dirname, '../..', path))]).toEqual([path, true])
})
