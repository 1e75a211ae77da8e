import { findProgram } from './programs.ts'

/** Returns the path of a Firefox for puppeteer-core: VITASCOPE_FIREFOX, or the first one on the PATH. Returns undefined if there is none. */
export function firefoxPath(): string | undefined {
  return process.env['VITASCOPE_FIREFOX'] || findProgram(['firefox-esr', 'firefox'])
}
