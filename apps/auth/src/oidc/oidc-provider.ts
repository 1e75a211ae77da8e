import { DomainError } from '@vitascope/errors'
import type { Logger } from '@vitascope/telemetry'
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
} from 'openid-client'

/** The identity provider, and this platform as its client. */
export interface OidcSettings {
  issuer: string
  clientId: string
  clientSecret: string | undefined
  /** Name of the claim with the groups of a user. */
  groupsClaim: string
  /** User types by group. Empty if groups have no effect. */
  userTypes: ReadonlyMap<string, 'uploader' | 'standard'>
  /** Organisation in which the first sign-in of an unknown user creates it. Undefined if unknown users are rejected. */
  organisationId: string | undefined
}

/** Secrets of one sign-in. */
export interface OidcChecks {
  state: string
  nonce: string
  codeVerifier: string
}

/** What the provider returned about a user. */
export interface OidcClaims {
  issuer: string
  subject: string
  /** Undefined if the provider did not verify it. */
  verifiedEmail: string | undefined
  email: string | undefined
  firstName: string
  lastName: string
  groups: readonly string[]
}

export interface OidcProvider {
  /** Returns the URL at which the user signs in. Throws OIDC_UNAVAILABLE. */
  buildUrl(redirectUri: string, checks: OidcChecks): Promise<string>
  /** Redeems the code of a redirect and verifies the ID token. Throws OIDC_FAILED and OIDC_UNAVAILABLE. */
  redeem(redirect: URL, checks: OidcChecks): Promise<OidcClaims>
}

const TIMEOUT_SECONDS = 5
/** Discovery is repeated after this time, so that changes of the provider take effect. */
const DISCOVERY_MS = 3_600_000

export function createOidcProvider({ issuer, clientId, clientSecret, groupsClaim }: OidcSettings, log: Logger): OidcProvider {
  let discovered: { configuration: Promise<Configuration>; time: number } | undefined
  const discover = (): Promise<Configuration> => {
    if (discovered && Date.now() - discovered.time < DISCOVERY_MS) return discovered.configuration
    // By default the library trusts the connection to the provider. This also checks the signatures of ID tokens.
    const execute = [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])]
    const configuration = discovery(new URL(issuer), clientId, clientSecret, undefined, { execute, timeout: TIMEOUT_SECONDS })
    const current = { configuration, time: Date.now() }
    discovered = current
    configuration.catch(() => {
      if (discovered === current) discovered = undefined
    })
    return configuration
  }
  const configure = () =>
    discover().catch((error: unknown) => {
      log.warn({ err: error }, 'discovery of the identity provider failed')
      throw unavailable(error)
    })

  return {
    async buildUrl(redirectUri, { state, nonce, codeVerifier }) {
      const url = buildAuthorizationUrl(await configure(), {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: 'S256',
      })
      return url.href
    },
    async redeem(redirect, { state, nonce, codeVerifier }) {
      const configuration = await configure()
      try {
        const tokens = await authorizationCodeGrant(configuration, redirect, {
          pkceCodeVerifier: codeVerifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
        })
        const claims = tokens.claims()
        if (!claims) throw new Error('the provider returned no ID token')
        const hasUserInfo = configuration.serverMetadata().userinfo_endpoint !== undefined
        const userInfo = hasUserInfo ? await fetchUserInfo(configuration, tokens.access_token, claims.sub) : {}
        return readClaims({ ...userInfo, ...claims }, groupsClaim)
      } catch (error) {
        log.warn({ err: error }, 'a sign-in at the identity provider failed')
        if (isConnectionFailure(error)) throw unavailable(error)
        throw oidcFailed(error)
      }
    },
  }
}

export function oidcFailed(cause?: unknown): DomainError {
  return new DomainError('forbidden', 'OIDC_FAILED', 'the sign-in at the identity provider failed; begin again', { cause })
}

function unavailable(cause: unknown): DomainError {
  return new DomainError('unavailable', 'OIDC_UNAVAILABLE', 'the identity provider does not respond; try again', { cause, retryAfter: 5 })
}

/** Returns whether the provider did not respond. `fetch` then throws TypeError, which the library may wrap. */
function isConnectionFailure(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { code, name, message, cause } = error as { code?: unknown; name?: unknown; message?: unknown; cause?: unknown }
  return code === 'OAUTH_TIMEOUT' || (name === 'TypeError' && message === 'fetch failed') || isConnectionFailure(cause)
}

function readClaims(claims: Record<string, unknown>, groupsClaim: string): OidcClaims {
  const text = (name: string) => {
    const value = claims[name]
    return typeof value === 'string' ? value.trim() : ''
  }
  const email = text('email') || undefined
  const groups = claims[groupsClaim]
  const [first = '', ...others] = text('name').split(/\s+/)
  return {
    issuer: text('iss'),
    subject: text('sub'),
    email,
    verifiedEmail: claims['email_verified'] === true ? email : undefined,
    firstName: text('given_name') || first,
    lastName: text('family_name') || others.join(' '),
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === 'string') : [],
  }
}
