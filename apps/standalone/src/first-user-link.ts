import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { inheritedEnvironment, type PlatformConfig, StartError } from '@vitascope/platform'

const COMMAND = fileURLToPath(new URL('../../auth/src/first-user-link.ts', import.meta.url))

/**
 * Creates the link by which the first user signs in, after the migrations. Returns undefined if a user has signed in
 * already. Throws `StartError`.
 */
export async function createFirstUserLink(config: PlatformConfig, databaseUrl: string): Promise<string | undefined> {
  const env = {
    ...inheritedEnvironment(),
    VITASCOPE_AUTH_DATABASE_URL: databaseUrl,
    VITASCOPE_PUBLIC_URL: config.publicUrl,
    ...config.forwardedEnvironment,
  }
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['--disable-warning=ExperimentalWarning', COMMAND], { env })
    return stdout.trim() || undefined
  } catch (error) {
    throw new StartError(`creating the link of the first user failed: ${(error as { stderr?: string }).stderr?.trim() || String(error)}`)
  }
}
