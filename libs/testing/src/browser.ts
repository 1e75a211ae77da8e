import { findProgram } from './programs.ts'

/** A Chromium of this machine for playwright-core: VITASCOPE_CHROMIUM, or the first one on the PATH; undefined when there is none. */
export function browserPath(): string | undefined {
  const named = process.env['VITASCOPE_CHROMIUM']
  if (named) return named
  return findProgram(['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'])
}

/** As root it has no sandbox of its own; the rest keeps it from speaking to anybody but the page. */
export const browserArguments: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--autoplay-policy=no-user-gesture-required',
]
