import { findProgram } from './programs.ts'

/** Returns the path of promtool, which checks and tests rules of Prometheus, or undefined if it is not installed. */
export function promtoolPath(): string | undefined {
  return findProgram(['promtool'], [])
}
