import { asObject, asText } from './json-values.ts'

/**
 * Returns the `code` of the problem document with which the server rejects a media file. Returns an
 * empty string if the file is not rejected or the response has no code.
 */
export async function fetchRejectionCode(address: string, signal: AbortSignal): Promise<string> {
  try {
    const response = await fetch(address, { cache: 'no-store', signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]) })
    if (response.status !== 401 && response.status !== 403) {
      await response.body?.cancel()
      return ''
    }
    const problem: unknown = await response.json().catch(() => ({}))
    return asText(asObject(problem)['code']) || 'token_required'
  } catch {
    // A failed request is not a rejection. The next request for the file detects the outage.
    return ''
  }
}
