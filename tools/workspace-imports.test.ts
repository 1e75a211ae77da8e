import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, expect, test } from '@jest/globals'
import { findUnlistedImports, importedPackages } from './workspace-imports.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

function writeWorkspace(files: Record<string, string>): string {
  const root = mkdtempSync(join(tmpdir(), 'vitascope-videos-'))
  folders.push(root)
  const manifests = {
    'package.json': '{ "devDependencies": { "jest": "1" } }',
    'apps/auth/package.json': '{ "name": "@vitascope/auth", "dependencies": { "@vitascope/errors": "0.1.0" } }',
    'libs/errors/package.json': '{ "name": "@vitascope/errors" }',
  }
  for (const [name, text] of Object.entries({ ...manifests, ...files })) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}

test.each([
  ['a named import', "import { a } from 'pg'", ['pg']],
  ['an import of several lines', "import {\n  a,\n  type B,\n} from '@scope/pkg/deep/file.js'", ['@scope/pkg']],
  ['a side-effect import', "import 'pino'", ['pino']],
  ['a re-export', "export { a } from '@vitascope/errors'", ['@vitascope/errors']],
  ['a dynamic import', "const x = await import('vite')", ['vite']],
  ['a type of a workspace package', "import type { A } from '@vitascope/errors'", ['@vitascope/errors']],
  ['a type of an external package', "import type { A } from 'express'", []],
  ['built-in and relative imports', "import fs from 'node:fs'\nimport path from 'path'\nimport { b } from './b.ts'", []],
  ['a comment and a string', "// import 'pg'\n/* import 'pg' */\nconst say = 'we import from \"pg\" now'", []],
])('finds the packages in %s', (_, source, packages) => {
  expect([...importedPackages(source)]).toEqual(packages)
})

test('reports an import that the package.json does not list, with its file', () => {
  const root = writeWorkspace({
    'apps/auth/src/main.ts': "import { a } from '@vitascope/errors'\nimport { b } from '@vitascope/grpc'\n",
    'apps/auth/src/page.tsx': "import { Button } from '@mantine/core'\n\nexport const page = () => <Button>import from</Button>\n",
    'libs/errors/src/index.ts': "import jest from 'jest'\n",
  })
  expect(findUnlistedImports(root)).toEqual([
    'apps/auth/src/main.ts imports @vitascope/grpc, which its package.json does not list',
    'apps/auth/src/page.tsx imports @mantine/core, which its package.json does not list',
    'libs/errors/src/index.ts imports jest, which its package.json does not list',
  ])
})

test("tests may import the root's development dependencies and libs/testing", () => {
  const root = writeWorkspace({
    'apps/auth/src/a.test.ts': "import jest from 'jest'\nimport { waitFor } from '@vitascope/testing'\n",
    'apps/auth/test/b.ts': "import { waitFor } from '@vitascope/testing'\nimport { c } from '@vitascope/grpc'\n",
  })
  expect(findUnlistedImports(root)).toEqual(['apps/auth/test/b.ts imports @vitascope/grpc, which its package.json does not list'])
})
