import { findProgram } from './programs.ts'

/** Returns the path of the emulator that runs programs for arm64 on any machine, or undefined if it is not installed. */
export function qemuPath(): string | undefined {
  return findProgram(['qemu-aarch64-static'], [])
}
