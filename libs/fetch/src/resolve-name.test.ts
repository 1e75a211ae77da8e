import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { resolveName } from './resolve-name.ts'

let folder: string
let hosts: string
const neverAborted = new AbortController().signal
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-hosts-'))
  hosts = join(folder, 'hosts')
  await writeFile(
    hosts,
    '# 1.1.1.1 storage.example\n192.0.2.7 Storage.Example store # other.example\n2001:db8::7\tstorage.example\nnonsense x\n',
  )
})
afterAll(() => rm(folder, { recursive: true }))

test('the hosts file has priority, returns all addresses of a name, and ignores case and a trailing dot', async () => {
  expect(await resolveName('STORAGE.example.', neverAborted, hosts)).toEqual(['192.0.2.7', '2001:db8::7'])
  expect(await resolveName('store', neverAborted, hosts)).toEqual(['192.0.2.7'])
})

test('a name of one label is resolved by the system', async () => {
  expect(await resolveName('localhost', neverAborted, join(folder, 'none'))).toEqual(
    expect.arrayContaining([expect.stringMatching(/^(127|::1)/)]),
  )
})

test('an aborted look-up is rejected with the reason of the signal', async () => {
  const aborted = AbortSignal.abort(new Error('given up'))
  await expect(resolveName('nobody.example', aborted, hosts)).rejects.toThrow('given up')
})
