import { findProgram } from './programs.ts'

/** Returns the path of restic, or undefined if it is not installed. */
export function resticPath(): string | undefined {
  return findProgram(['restic'])
}
