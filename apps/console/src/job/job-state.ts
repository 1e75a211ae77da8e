import type { QueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'

export const JOBS_KEY = ['jobs']

/** Codes from here on are errors of the platform, lower ones are errors in the source. */
const FIRST_PLATFORM_CODE = 5_000

export function isPlatformError({ code }: { code: number }): boolean {
  return code >= FIRST_PLATFORM_CODE
}

/** Returns whether a job has ended without a result. */
export function canRetry({ state }: Pick<Schemas['ListedJob'], 'state'>): boolean {
  return state === 'failed' || state === 'cancelled'
}

export function isActive({ state }: Pick<Schemas['ListedJob'], 'state'>): boolean {
  return state === 'queued' || state === 'running'
}

/** Reads jobs, and what they change, again after an upload or a change of a job. */
export async function refreshJobs(queryClient: QueryClient): Promise<void> {
  await Promise.all([JOBS_KEY, ['video'], ['videos'], ['media'], ['usage']].map((queryKey) => queryClient.invalidateQueries({ queryKey })))
}
