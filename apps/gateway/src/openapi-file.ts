import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { API_VERSION, openApiDocument } from './server/docs/openapi.ts'
import { routes } from './table.ts'

/**
 * Writes docs/openapi.json from the route table. With `--check` it only verifies that the file is
 * up to date.
 */
const file = fileURLToPath(new URL('../../../docs/openapi.json', import.meta.url))
const text = `${JSON.stringify(openApiDocument(routes, API_VERSION), null, 2)}\n`

if (!process.argv.includes('--check')) {
  writeFileSync(file, text)
} else if (read(file) !== text) {
  console.error('docs/openapi.json does not match the route table; run npm run generate')
  process.exitCode = 1
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
