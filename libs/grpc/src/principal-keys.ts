import type { IncomingHttpHeaders } from 'node:http'
import { createLoadingCache } from '@vitascope/concurrency'
import { DomainError } from '@vitascope/errors'
import { currentTraceparent, type Logger, type Metrics, TRACEPARENT } from '@vitascope/telemetry'
import { jwtVerify, SignJWT } from 'jose'
import { readSigningKey, readVerificationKeys, type SigningKey, type VerificationKey } from './key-files.ts'
import { canSign, isAdmitted, type Principal, type SignedPrincipal } from './principal.ts'

/** Paths of the keys of a process. */
export interface PrincipalKeySettings {
  /** PEM file with the Ed25519 private key that signs the calls of this process. */
  signingKeyFile: string
  /** A folder with `NAME.pub` for each service that may call this one; undefined for a process that serves no calls. */
  publicKeysDir?: string | undefined
}

/** Signs the calls of a service and verifies the calls that it receives. */
export interface PrincipalKeys {
  /** The name of this service: the issuer of its tokens and the audience of those it accepts. */
  readonly service: string
  /** Returns a JWT (EdDSA) that only the service `audience` accepts. It is valid for at least 30 s. */
  sign(principal: Principal, audience: string): Promise<string>
  /** Returns the principal of a token that a known key signed for this service. Rejects any other token. */
  verify(token: string): Promise<SignedPrincipal>
  /** Stops polling the files. */
  close(): void
}

const LIFETIME_SECONDS = 60
/** A signed token is used again for half of its lifetime, so that a call never carries one that is about to expire. */
const REUSE_MS = 30_000
/** Maximum difference between the clocks of two machines. */
const CLOCK_TOLERANCE_SECONDS = 30
const MAX_CACHED_TOKENS = 10_000
/** Mounted secrets change within a minute; the files are small. */
const POLL_MS = 5_000

interface Keys {
  signing: SigningKey
  verification: Map<string, VerificationKey>
}

/**
 * Reads the keys of a service and polls their files for changes. A changed file that cannot be used is logged once and the previous
 * keys stay in use. Throws when the first read fails.
 */
export function openPrincipalKeys(
  service: string,
  settings: PrincipalKeySettings,
  { log, metrics, pollMs = POLL_MS }: { log: Logger; metrics: Metrics; pollMs?: number },
): PrincipalKeys {
  let keys = readKeys(settings)
  let problem: string | undefined
  const signed = createLoadingCache<{ token: string; reusableUntil: number }>({
    max: MAX_CACHED_TOKENS,
    ttlMs: ({ reusableUntil }) => reusableUntil - Date.now(),
  })
  const verified = createLoadingCache<{ signedPrincipal: SignedPrincipal; expires: number }>({
    max: MAX_CACHED_TOKENS,
    ttlMs: ({ expires }) => expires - Date.now(),
  })
  const changes = metrics.counter('vitascope_principal_key_changes_total', 'Reloads of changed principal keys')
  const rejected = metrics.counter('vitascope_principal_key_rejected_changes_total', 'Changed principal keys that were invalid and ignored')

  const poll = () => {
    try {
      const next = readKeys(settings)
      problem = undefined
      if (haveSameIds(keys, next)) return
      keys = next
      signed.clear()
      verified.clear()
      changes.inc()
      log.info(
        { kid: keys.signing.kid, known: [...keys.verification].map(([kid, { signer }]) => `${signer} ${kid}`) },
        'principal keys changed',
      )
    } catch (error) {
      const { message } = error as Error
      if (message === problem) return
      problem = message
      rejected.inc()
      log.error({ err: error }, 'loading changed principal keys failed; using the previous ones')
    }
  }
  const timer = setInterval(poll, pollMs)
  timer.unref()

  return {
    service,
    async sign(principal, audience) {
      const { token } = await signed.get(`${audience} ${JSON.stringify(principal)}`, async () => {
        const reusableUntil = Date.now() + REUSE_MS
        return { token: await signToken(principal, { service, audience, key: keys.signing }), reusableUntil }
      })
      return token
    },
    async verify(token) {
      const { signedPrincipal } = await verified.get(token, () => verifyToken(token, service, keys.verification))
      return signedPrincipal
    },
    close: () => clearInterval(timer),
  }
}

function signToken(
  principal: Principal,
  { service, audience, key }: { service: string; audience: string; key: SigningKey },
): Promise<string> {
  const now = Math.floor(Date.now() / 1_000)
  return new SignJWT({ principal })
    .setProtectedHeader({ alg: 'EdDSA', kid: key.kid })
    .setIssuer(service)
    .setAudience(audience)
    .setIssuedAt(now)
    .setExpirationTime(now + LIFETIME_SECONDS)
    .sign(key.key)
}

async function verifyToken(
  token: string,
  audience: string,
  keys: ReadonlyMap<string, VerificationKey>,
): Promise<{ signedPrincipal: SignedPrincipal; expires: number }> {
  let signer = ''
  const { payload } = await jwtVerify<{ principal: Principal }>(
    token,
    ({ kid = '' }) => {
      const verificationKey = keys.get(kid)
      if (!verificationKey) throw new Error('no known key has this key id')
      signer = verificationKey.signer
      return verificationKey.key
    },
    { algorithms: ['EdDSA'], audience, clockTolerance: CLOCK_TOLERANCE_SECONDS, requiredClaims: ['exp', 'iss', 'aud', 'principal'] },
  )
  if (payload.iss !== signer) throw new Error(`the issuer is ${payload.iss}, and the key is of ${signer}`)
  if (!canSign(signer, payload.principal)) throw new Error(`${signer} may not sign for this principal`)
  return { signedPrincipal: { principal: payload.principal, signer }, expires: (Number(payload.exp) + CLOCK_TOLERANCE_SECONDS) * 1_000 }
}

function readKeys({ signingKeyFile, publicKeysDir }: PrincipalKeySettings): Keys {
  return {
    signing: withSettingName('VITASCOPE_SIGNING_KEY_FILE', () => readSigningKey(signingKeyFile)),
    verification:
      publicKeysDir === undefined ? new Map() : withSettingName('VITASCOPE_PUBLIC_KEYS_DIR', () => readVerificationKeys(publicKeysDir)),
  }
}

function withSettingName<T>(setting: string, read: () => T): T {
  try {
    return read()
  } catch (cause) {
    throw new Error(`${setting}: ${(cause as Error).message}`, { cause })
  }
}

function haveSameIds(a: Keys, b: Keys): boolean {
  const text = ({ signing, verification }: Keys) =>
    [signing.kid, ...[...verification].map(([kid, { signer }]) => `${signer} ${kid}`)].join()
  return text(a) === text(b)
}

/** HTTP header and gRPC metadata with the signed principal of a call. */
export const PRINCIPAL_HEADER = 'vitascope-principal'
/** HTTP header and gRPC metadata with the request id, for logs. It is not signed. */
export const REQUEST_ID_HEADER = 'vitascope-request-id'

/** Verifies the principal of a call. Throws `unauthenticated` without a valid one, `forbidden` for a signer that is not admitted. */
export async function requirePrincipal(
  token: string | undefined,
  keys: Pick<PrincipalKeys, 'verify'>,
  callers?: readonly string[],
): Promise<Principal> {
  if (token === undefined || token === '') {
    throw new DomainError('unauthenticated', 'PRINCIPAL_MISSING', 'the call has no signed principal')
  }
  const { principal, signer } = await keys.verify(token).catch((cause: unknown) => {
    throw new DomainError('unauthenticated', 'PRINCIPAL_INVALID', 'the signed principal of the call is invalid', { cause })
  })
  if (!isAdmitted(signer, callers)) throw new DomainError('forbidden', 'CALLER_NOT_ADMITTED', `${signer} must not call this method`)
  return principal
}

/**
 * Verifies the principal of an HTTP call. Returns it with the request id. Throws the same errors as
 * `requirePrincipal`.
 */
export async function readPrincipalHeaders(
  headers: IncomingHttpHeaders,
  keys: Pick<PrincipalKeys, 'verify'>,
  callers?: readonly string[],
): Promise<{ principal: Principal; requestId: string }> {
  const [token, requestId] = [headers[PRINCIPAL_HEADER], headers[REQUEST_ID_HEADER]]
  const principal = await requirePrincipal(typeof token === 'string' ? token : undefined, keys, callers)
  return { principal, requestId: toRequestId(typeof requestId === 'string' ? requestId : '') }
}

/**
 * Returns a request id of another process if it is printable ASCII of at most 200 characters, else an empty string.
 * Request ids are logged.
 */
export function toRequestId(text: string): string {
  return /^[\x20-\x7e]{1,200}$/.test(text) ? text : ''
}

/** Returns the headers that `readPrincipalHeaders` reads, and the active trace. */
export async function principalHeaders(
  call: { principal: Principal; requestId: string },
  keys: Pick<PrincipalKeys, 'sign'>,
  audience: string,
): Promise<Record<string, string>> {
  const traceparent = currentTraceparent()
  return {
    [PRINCIPAL_HEADER]: await keys.sign(call.principal, audience),
    [REQUEST_ID_HEADER]: call.requestId,
    ...(traceparent !== undefined && { [TRACEPARENT]: traceparent }),
  }
}
