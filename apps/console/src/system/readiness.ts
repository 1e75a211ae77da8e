/** What the readiness check of the gateway covers. */
export const SERVICES = ['gateway', 'auth', 'catalogue', 'encoding', 'delivery', 'analytics', 'collaboration', 'resources'] as const

/**
 * Returns why services are not available, by name. It is empty if all of them are. The address is not part of the
 * API, so that the SDK has no call for it.
 */
export async function findUnavailable(signal: AbortSignal): Promise<Map<string, string>> {
  const response = await fetch('/readyz', { signal, headers: { accept: 'application/json' } })
  if (response.ok) return new Map()
  const { errors = [], detail = response.statusText } = (await response.json()) as Problem
  return errors.length === 0 ? new Map([['gateway', detail]]) : new Map(errors.map(({ field, message }) => [field, message]))
}

interface Problem {
  detail?: string
  errors?: { field: string; message: string }[]
}
