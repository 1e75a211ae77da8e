import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { readDatabaseUrl } from './database.ts'
import { ConfigError, type Reader, readEnvironment } from './read-environment.ts'

const description = 'A setting.'

const listProblems = (env: NodeJS.ProcessEnv, read: (reader: Reader) => unknown): readonly string[] => {
  const reader = readEnvironment(env)
  read(reader)
  try {
    reader.check()
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return error.problems
  }
}

test('values are parsed to their types, and defaults replace absent or empty ones', () => {
  const read = readEnvironment({
    A: ' text ',
    B: '7',
    C: 'two',
    D: 'true',
    E: 'a, b,,c',
    F: '127.0.0.1:80',
    G: 'https://x.org/',
    EMPTY: '',
  })
  expect([
    read.text('A', { description }),
    read.text('EMPTY', { description, fallback: 'fallback' }),
    read.optional('NONE'),
    read.int('B', { description, fallback: 1, min: 0, max: 9 }),
    read.int('NONE', { description, fallback: 1, min: 0, max: 9 }),
    read.oneOf('C', { description, words: ['one', 'two'], fallback: 'one' }),
    read.flag('D', { description, fallback: false }),
    read.list('E', { description }),
    read.address('F', { description }),
    read.url('G', { description, protocols: ['https:'] }),
  ]).toEqual(['text', 'fallback', undefined, 7, 1, 'two', true, ['a', 'b', 'c'], '127.0.0.1:80', 'https://x.org/'])
  expect(() => read.check()).not.toThrow()
})

test('all problems are reported together, each with the name of its setting', () => {
  const problems = listProblems(
    { B: '1e3', C: 'three', D: 'maybe', E: 'bad', F: 'no-port', G: 'ftp://x', KEY: '/no/such/file' },
    (read) => {
      read.text('A', { description })
      read.int('B', { description, fallback: 1, min: 0, max: 9 })
      read.oneOf('C', { description, words: ['one', 'two'], fallback: 'one' })
      read.flag('D', { description, fallback: false })
      read.list('E', { description, check: () => 'is not right' })
      read.address('F', { description })
      read.url('G', { description, protocols: ['https:'] })
      read.secretFile('KEY', { description })
    },
  )
  expect(problems.map((problem) => problem.split(/[ :]/)[0])).toEqual(['A', 'B', 'C', 'D', 'E', 'F', 'G', 'KEY'])
})

test.each(['10', '-1', '1.5', '0x1', ' ', 'NaN', '١'])('%j is not an integer from 0 to 9', (text) => {
  const problems = listProblems({ N: text }, (read) => read.int('N', { description, fallback: 5, min: 0, max: 9 }))
  expect(problems).toHaveLength(text.trim() === '' ? 0 : 1)
})

test('an unknown variable with the project prefix is rejected', () => {
  const problems = listProblems({ VITASCOPE_A: '1', VITASCOPE_TYPO: '1', VITASCOPE_URL: '1', OTHER: '1' }, (read) => {
    read.text('VITASCOPE_A', { description })
    read.rejectUnknown('VITASCOPE_', ['VITASCOPE_URL'])
  })
  expect(problems).toEqual(['VITASCOPE_TYPO is not a setting'])
})

test('a secret is read from its file, an empty file is rejected, and the value is never shown', () => {
  const folder = mkdtempSync(join(tmpdir(), 'config-'))
  writeFileSync(join(folder, 'full'), 's3cret\n')
  writeFileSync(join(folder, 'empty'), '\n')
  expect(readEnvironment({ S: join(folder, 'full') }).secretFile('S', { description })).toBe('s3cret')
  expect(listProblems({ S: join(folder, 'empty') }, (read) => read.secretFile('S', { description }))).toEqual(['S: the file is empty'])
  rmSync(folder, { recursive: true })
})

test('a secret is read from its value or its file, not from both, and is never shown', () => {
  const folder = mkdtempSync(join(tmpdir(), 'config-'))
  writeFileSync(join(folder, 'url'), 'redis://:s3cret@redis:6379\n')
  writeFileSync(join(folder, 'other'), 'mysql://:s3cret@db\n')
  writeFileSync(join(folder, 'empty'), '\n')
  const url = (env: Record<string, string>) => readEnvironment(env).secretUrl('S', { description, protocols: ['redis:'] })
  const problems = (env: Record<string, string>) =>
    listProblems(env, (read) => [read.secretUrl('S', { description, protocols: ['redis:'] }), read.secret('S')])
  expect([url({}), url({ S: 'redis://a' }), url({ S_FILE: join(folder, 'url') })]).toEqual([
    undefined,
    'redis://a',
    'redis://:s3cret@redis:6379',
  ])
  expect(problems({ S: 'redis://a', S_FILE: join(folder, 'url') })).toEqual(['S and S_FILE are both set: remove one of them'])
  expect(problems({ S_FILE: join(folder, 'nowhere') })).toEqual(['S_FILE: the file cannot be read (ENOENT)'])
  expect(problems({ S_FILE: join(folder, 'empty') })).toEqual(['S_FILE: the file is empty'])
  expect(problems({ S_FILE: join(folder, 'other') })).toEqual(['S must be a URL beginning with redis://'])
  const database = (env: Record<string, string>) => listProblems(env, (read) => readDatabaseUrl(read, 'AUTH'))
  expect(database({})).toEqual(['VITASCOPE_AUTH_DATABASE_URL is missing'])
  expect(database({ VITASCOPE_AUTH_DATABASE_URL_FILE: join(folder, 'other') })).toEqual([
    'VITASCOPE_AUTH_DATABASE_URL must be a URL beginning with postgres:// or postgresql://',
  ])
  rmSync(folder, { recursive: true })
})
