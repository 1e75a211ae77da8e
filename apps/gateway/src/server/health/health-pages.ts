import { DomainError } from '@vitascope/errors'
import type { RequestHandler } from 'express'
import { sendJson } from '../http/response.ts'

/** A dependency of the gateway. `check` returns undefined if it is available, otherwise the reason why it is not. */
export interface Dependency {
  name: string
  check: () => Promise<string | undefined>
}

/** Returns 200 while this process runs. It checks no dependency. */
export const liveness: RequestHandler = (_request, response) => sendJson(response, { status: 'ok' }, { 'Cache-Control': 'no-store' })

/** Returns 200 if every dependency is available, otherwise 503 with the unavailable ones. */
export function readiness(dependencies: readonly Dependency[]): RequestHandler {
  return async (_request, response) => {
    const missing = await findUnavailable(dependencies)
    if (missing.length > 0) {
      const names = missing.map(({ field }) => field).join(', ')
      throw new DomainError('unavailable', 'NOT_READY', `not ready: ${names}`, { fields: missing, retryAfter: 1 })
    }
    sendJson(response, { status: 'ready' }, { 'Cache-Control': 'no-store' })
  }
}

/** Returns the unavailable dependencies, each with the message of its check. */
export async function findUnavailable(dependencies: readonly Dependency[]): Promise<{ field: string; message: string }[]> {
  const checked = await Promise.all(dependencies.map(async ({ name, check }) => ({ field: name, message: await check() })))
  return checked.flatMap(({ field, message }) => (message === undefined ? [] : [{ field, message }]))
}
