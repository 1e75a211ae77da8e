import { pause } from '../recovery/pause.ts'
import { asNumber, asObject, asText } from './json-values.ts'

/** A token for the files of a video with a password. */
export interface AccessToken {
  token: string
  /** Milliseconds since 1970. */
  expiresMs: number
}

export type AccessFailure = 'wrong' | 'too many attempts' | 'unreachable'

/** Time before the expiry of a token at which it is exchanged for a new one. */
const RENEW_BEFORE_MS = 5 * 60_000
/**
 * Maximum time before a token is exchanged, because the clock of the viewer may be wrong. Tokens
 * are valid for 15 minutes.
 */
const MAX_WAIT_MS = 10 * 60_000
const RETRY_MS = 20_000

/** Exchanges the password of a video, or an earlier token, for a token. */
export async function requestAccess(
  videoId: string,
  secret: { password: string } | { token: string },
  signal: AbortSignal,
): Promise<AccessToken | AccessFailure> {
  try {
    const response = await fetch(`/v2/video/${encodeURIComponent(videoId)}/access`, {
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      body: JSON.stringify(secret),
      cache: 'no-store',
      signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]),
    })
    if (response.status === 429) return 'too many attempts'
    if (response.status >= 500) return 'unreachable'
    const body = asObject(await response.json())
    const access = { token: asText(body['token']), expiresMs: asNumber(body['expires']) * 1_000 }
    return response.ok && access.token !== '' ? access : 'wrong'
  } catch {
    return 'unreachable'
  }
}

/**
 * Exchanges the token before it expires, until the signal aborts, and passes each new token on. Ends with a call of
 * `onLost` if the server rejects the token, for example because the device was asleep until it had expired.
 */
export async function keepAccess(
  videoId: string,
  first: AccessToken,
  { onRenewed, onLost }: { onRenewed: (token: string) => void; onLost: () => void },
  signal: AbortSignal,
): Promise<void> {
  let { token } = first
  let waitMs = toWaitMs(first)
  while (!signal.aborted) {
    await pause(waitMs, signal)
    if (signal.aborted) return
    const renewed = await requestAccess(videoId, { token }, signal)
    if (renewed === 'wrong') return signal.aborted ? undefined : onLost()
    if (typeof renewed === 'string') waitMs = RETRY_MS
    else {
      token = renewed.token
      waitMs = toWaitMs(renewed)
      onRenewed(token)
    }
  }
}

function toWaitMs({ expiresMs }: AccessToken): number {
  return Math.min(MAX_WAIT_MS, Math.max(RETRY_MS, expiresMs - Date.now() - RENEW_BEFORE_MS))
}
