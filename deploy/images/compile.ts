// NODE_COMPILE_CACHE=FOLDER node deploy/images/compile.ts ASSEMBLED: loads the modules of the
// images' programs, so that Node stores the compiled code in FOLDER.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { APPS } from './assemble.ts'

const programs = [...APPS.map((app) => `apps/${app}/src/main.ts`), 'apps/encoding/src/worker/main.ts']

/**
 * Returns the imports of a program and the module that runs it. The program itself would start to
 * serve.
 */
export function listModules(folder: string): string[] {
  const own = programs.flatMap((program) =>
    [...readFileSync(join(folder, program), 'utf8').matchAll(/ from '(\.\/[^']+)'/g)].map(([, path = '']) =>
      join(folder, program, '..', path),
    ),
  )
  return [...own, join(folder, 'libs/process/src/index.ts')]
}

const [, , folder] = process.argv
if (import.meta.main && folder !== undefined) for (const part of listModules(folder)) await import(part)
