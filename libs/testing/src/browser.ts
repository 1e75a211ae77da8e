import { findProgram } from './programs.ts'

/**
 * Returns the path of a Chromium for playwright-core: VITASCOPE_CHROMIUM, or the first one on the PATH. Undefined if
 * there is none.
 */
export function browserPath(): string | undefined {
  const named = process.env['VITASCOPE_CHROMIUM']
  if (named) return named
  return findProgram(['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'])
}

/** Chromium has no sandbox as root. The other arguments prevent network traffic other than that of the page. */
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
