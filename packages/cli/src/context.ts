import { Vitascope } from '@vitascope/sdk'
import type { Output } from './output.ts'
import { readSettings } from './settings.ts'

/** Exit codes of all commands. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const

/** An error of the caller. The message says what to do. */
export class UsageError extends Error {}

/** Options of all commands. */
export interface GlobalOptions {
  url?: string
  key?: string
  organisation?: string
  json?: boolean
}

/** Values that are available to every command. */
export interface Context {
  env: NodeJS.ProcessEnv
  output: Output
  /** Aborts when the user presses Ctrl-C. */
  signal: AbortSignal
  url: string
  key: string | undefined
  vitascope: Vitascope
  /** Returns the organisation. Throws a `UsageError` if it is not known. */
  requireOrganisation(): string
}

/** Builds the context from the options, the environment and what `login` stored, in this order. */
export async function createContext(
  options: GlobalOptions,
  { env, output, signal }: Pick<Context, 'env' | 'output' | 'signal'>,
): Promise<Context> {
  const stored = await readSettings(env)
  const url = options.url ?? (env['VITASCOPE_URL'] || stored.url)
  if (url === undefined) throw new UsageError('no platform: run `vitascope login URL`, or set --url or VITASCOPE_URL')
  // A stored key is never sent to another platform.
  const isStored = stored.url === url
  const key = options.key ?? (env['VITASCOPE_KEY'] || (isStored ? stored.key : undefined))
  const organisation = options.organisation ?? (env['VITASCOPE_ORGANISATION'] || (isStored ? stored.organisation : undefined))
  return {
    ...{ env, output, signal, url, key },
    vitascope: new Vitascope({ url, key, organisationId: organisation }),
    requireOrganisation() {
      if (organisation === undefined) throw new UsageError('no organisation: set --organisation or VITASCOPE_ORGANISATION')
      return organisation
    },
  }
}
