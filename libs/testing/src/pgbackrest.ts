import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from './programs.ts'

const SERVERS = '/usr/lib/postgresql'

/** pgBackRest, and the newest PostgreSQL server of the distribution, which it supports. */
export interface PgBackRest {
  program: string
  /** Folder of the server programs. */
  binDir: string
}

/** Returns undefined unless pgBackRest and a server of the distribution are installed. */
export function findPgBackRest(): PgBackRest | undefined {
  const program = findProgram(['pgbackrest'])
  const versions = existsSync(SERVERS) ? readdirSync(SERVERS).filter((name) => existsSync(join(SERVERS, name, 'bin/postgres'))) : []
  const newest = versions.toSorted((a, b) => Number(b) - Number(a))[0]
  return program === undefined || newest === undefined ? undefined : { program, binDir: join(SERVERS, newest, 'bin') }
}
