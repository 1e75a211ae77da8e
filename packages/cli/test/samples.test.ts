import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import type { Command } from 'commander'
import { createProgram } from '../src/program.ts'

interface Operation {
  operationId?: string
  'x-codeSamples'?: { label: string; source: string }[]
}

const { paths } = JSON.parse(readFileSync(join(import.meta.dirname, '../../../docs/openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
}
const samples = Object.values(paths)
  .flatMap((item) => Object.values(item))
  .flatMap(({ operationId = '', 'x-codeSamples': list = [] }) => list.map(({ source }) => [operationId, source] as const))
const program = createProgram({ env: {}, signal: new AbortController().signal, setExitCode() {}, version: '0.0.0' })

test('the API document has samples of the commands', () => {
  expect(samples.length).toBeGreaterThanOrEqual(20)
})

test.each(samples)('the sample of %s has a command with these options: %s', (_, source) => {
  const [name, ...words] = source.match(/"[^"]*"|\S+/g) ?? []
  expect(name).toBe('vitascope')
  let command: Command = program
  while (command.commands.length > 0) {
    const child = command.commands.find((one) => one.name() === words[0])
    if (child === undefined) throw new Error(`there is no command ${words[0]} in ${command.name()}`)
    words.shift()
    command = child
  }
  const options = words.filter((word) => word.startsWith('--'))
  expect(command.options.map(({ long }) => long)).toEqual(expect.arrayContaining(options))
  const required = command.options.filter(({ mandatory }) => mandatory).map(({ long }) => long)
  expect(options).toEqual(expect.arrayContaining(required))
  const values = words.findIndex((word) => word.startsWith('--'))
  expect(values === -1 ? words.length : values).toBe(command.registeredArguments.length)
})
