import { findProgram } from './programs.ts'

/**
 * Returns the path of a Chromium for playwright-core: VITASCOPE_CHROMIUM, or the first one on the PATH. The headless
 * shell has no user interface of its own, so tests with it take two thirds of the time. Returns undefined if there is
 * none.
 */
export function browserPath(): string | undefined {
  const configured = process.env['VITASCOPE_CHROMIUM']
  if (configured) return configured
  return findProgram(['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'])
}

/**
 * Arguments for tests: Chromium cannot use its sandbox as root, must cause no network traffic except that of the page,
 * and must start videos without a click.
 */
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
