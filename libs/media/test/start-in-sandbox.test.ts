import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { defaultLimits, type Sandbox, startInSandbox } from '../src/sandbox.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'vitascope-inside-'))
})
afterAll(() => rm(folder, { recursive: true }))

test.each([
  ['by its path', false],
  ['as an open file', true],
])('the exit of a tool that ends at once is detected if it is started %s', async (_, passesToolAsFile) => {
  const sandbox: Sandbox = {
    users: undefined,
    files: 'all',
    network: 'open',
    landlock: undefined,
    calls: 'all',
    endsBy: 'group',
    processLimit: { kind: 'none' },
    diesWithParent: false,
    passesToolAsFile,
    wrap: () => ({ command: '/bin/true', args: [] }),
  }
  const codes = await Promise.all(
    Array.from({ length: 40 }, async (_unused, nth) => {
      const scratch = join(folder, `${passesToolAsFile}-${nth}`)
      const { child } = await startInSandbox(sandbox, { tool: '/bin/true', args: [], limits: defaultLimits, scratch })
      expect(child.exitCode).toBeNull()
      return once(child, 'exit')
    }),
  )
  expect(codes).toEqual(Array(40).fill([0, null]))
})
