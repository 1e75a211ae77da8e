// Faults: S4
import { expect, test } from '@jest/globals'
import { findSockets } from './outbound.ts'

test.each([
  ['a built-in module', "import { request } from 'node:https'", ['https']],
  ['a built-in module without the node: prefix', "import net from 'net'", ['net']],
  ['a submodule of a built-in module', "import { resolve4 } from 'node:dns/promises'", ['dns']],
  ['an HTTP client package', "import {\n  request,\n} from 'undici'", ['undici']],
  ['a dynamic import', "const http = await import('node:http')", ['http']],
  ['the global fetch', 'const answer = await fetch(url)', ['fetch()']],
  ['a type import', "import type { AddressInfo } from 'node:net'", []],
  ['a method named fetch', 'await source.fetch(url)', []],
  ['a declared method named fetch', 'const source = { async fetch(url: string): Promise<void> {} }', []],
  ['a comment', "// import net from 'net'; fetch(url)", []],
  ['a package whose name starts with http', "import proxy from 'http-proxy-middleware'", []],
])('finds the sockets in %s', (_, source, names) => {
  expect(findSockets(source)).toEqual(names)
})
