import { findProgram } from './programs.ts'
import { builtProgramsDir } from './s3.ts'

/** Returns the path of Node.js 20, the oldest version that the packages support, or undefined if it is not installed. */
export function oldestNodePath(): string | undefined {
  return findProgram(['node20'], [builtProgramsDir])
}
