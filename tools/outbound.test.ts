import { expect, test } from '@jest/globals'
import { socketsOf } from './outbound.ts'

test.each([
  ['a module of the runtime', "import { request } from 'node:https'", ['https']],
  ['one by its old name', "import net from 'net'", ['net']],
  ['a part of one', "import { resolve4 } from 'node:dns/promises'", ['dns']],
  ['a client of others', "import {\n  request,\n} from 'undici'", ['undici']],
  ['a dynamic import', "const http = await import('node:http')", ['http']],
  ['the global', 'const answer = await fetch(url)', ['fetch()']],
  ['types alone', "import type { AddressInfo } from 'node:net'", []],
  ['a method of that name', 'await source.fetch(url)', []],
  ['a method that is declared', 'const source = { async fetch(url: string): Promise<void> {} }', []],
  ['a comment', "// import net from 'net'; fetch(url)", []],
  ['a package whose name begins alike', "import proxy from 'http-proxy-middleware'", []],
])('%s', (_, source, names) => {
  expect(socketsOf(source)).toEqual(names)
})
