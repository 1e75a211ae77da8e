// NODE_COMPILE_CACHE=FOLDER node deploy/images/compile.ts ASSEMBLED: loads what the programs of the images load, so that Node keeps there what it made of it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { APPS } from './assemble.ts'

const programs = [...APPS.map((app) => `apps/${app}/src/main.ts`), 'apps/encoding/src/worker/main.ts']

/** The files that a program imports, and the one that runs it; the program itself would begin to serve. */
export function partsOf(folder: string): string[] {
  const own = programs.flatMap((program) =>
    [...readFileSync(join(folder, program), 'utf8').matchAll(/ from '(\.\/[^']+)'/g)].map(([, path = '']) =>
      join(folder, program, '..', path),
    ),
  )
  return [...own, join(folder, 'libs/process/src/index.ts')]
}

const [, , folder] = process.argv
if (import.meta.main && folder !== undefined) for (const part of partsOf(folder)) await import(part)
