import { DomainError } from '@vitascope/errors'
import type { Call } from '@vitascope/grpc'
import { checkEmail, firstCharacters, isStorable } from '@vitascope/request'
import { makeKeyValue } from '../key/key-value.ts'
import { hashSecret, makeSecret } from '../rules/random-secret.ts'
import { type Client, type Session, toClient } from '../session/session.ts'
import type { User } from '../user/user.ts'
import { type OidcChecks, type OidcClaims, type OidcProvider, type OidcSettings, oidcFailed } from './oidc-provider.ts'

/** An account of an identity provider. */
export interface OidcUser {
  issuer: string
  subject: string
  /** Email address by which a user is found. */
  verifiedEmail: string | undefined
  /** Type by the groups of the account; `uploader` if groups have no effect. Undefined if no group gives access. */
  userType: 'uploader' | 'standard' | undefined
  /** Whether each sign-in sets the type of a user that a sign-in created. False if groups have no effect. */
  isTypeByGroups: boolean
  /**
   * The user that is created if none is linked. Undefined if unknown users are rejected, the provider returned no
   * verified email address, or no group gives access.
   */
  created: { organisationId: string; email: string; firstName: string; lastName: string } | undefined
}

export interface OidcStore {
  begin(
    signIn: { stateHash: Buffer; browserHash: Buffer; nonce: string; codeVerifier: string; minutes: number },
    signal: AbortSignal,
  ): Promise<Date>
  /** Deletes and returns a sign-in. Returns undefined if it is unknown, expired, or of another browser. */
  take(
    key: { stateHash: Buffer; browserHash: Buffer },
    signal: AbortSignal,
  ): Promise<Pick<OidcChecks, 'nonce' | 'codeVerifier'> | undefined>
  /** Finds or creates the user, and creates a session. Throws OIDC_USER_UNKNOWN, ORGANISATION_INACTIVE and EMAIL_TAKEN. */
  signIn(user: OidcUser, session: Client & { value: string }, signal: AbortSignal): Promise<{ session: Session; user: User }>
}

export interface OidcParts {
  store: OidcStore
  settings: OidcSettings
  provider: OidcProvider
}

/** Time that a user has for the sign-in at the provider. */
const MINUTES = 10
const MAX_NAME_LENGTH = 100

/** Begins a sign-in. The state, and a cookie that only this browser has, prevent that another site completes it. */
export async function beginOidcSignIn(
  oidc: OidcParts | undefined,
  redirectUri: string,
  { signal }: Pick<Call, 'signal'>,
): Promise<{ authorizationUrl: string; browserSecret: string; expireTime: Date }> {
  const { provider, store } = requireOidc(oidc)
  const [state, nonce, codeVerifier, browserSecret] = [makeSecret(), makeSecret(), makeSecret(), makeSecret()]
  const authorizationUrl = await provider.buildUrl(redirectUri, { state, nonce, codeVerifier })
  const signIn = { stateHash: hashSecret(state), browserHash: hashSecret(browserSecret), nonce, codeVerifier, minutes: MINUTES }
  return { authorizationUrl, browserSecret, expireTime: await store.begin(signIn, signal) }
}

export interface OidcResponse extends Client {
  redirectUri: string
  code: string
  state: string
  issuer?: string | undefined
  browserSecret: string
}

/** Ends a sign-in with the response of the provider. */
export async function completeOidcSignIn(
  oidc: OidcParts | undefined,
  { redirectUri, code, state, issuer, browserSecret, address, userAgent }: OidcResponse,
  { signal }: Pick<Call, 'signal'>,
): Promise<{ session: Session; value: string; user: User }> {
  const { provider, store, settings } = requireOidc(oidc)
  const checks = await store.take({ stateHash: hashSecret(state), browserHash: hashSecret(browserSecret) }, signal)
  if (!checks) throw oidcFailed()
  const redirect = new URL(redirectUri)
  for (const [name, text] of Object.entries({ code, state, iss: issuer })) if (text !== undefined) redirect.searchParams.set(name, text)
  const claims = await provider.redeem(redirect, { ...checks, state })
  if (![claims.issuer, claims.subject].every((text) => text !== '' && isStorable(text))) throw oidcFailed()
  const value = makeKeyValue()
  const created = await store.signIn(toOidcUser(claims, settings), { ...toClient({ address, userAgent }), value }, signal)
  return { ...created, value }
}

function toOidcUser(claims: OidcClaims, { userTypes, organisationId }: OidcSettings): OidcUser {
  const { issuer, subject, email, verifiedEmail, firstName, lastName, groups } = claims
  const types = groups.map((group) => userTypes.get(group))
  const mapped = types.includes('standard') ? 'standard' : types.find((type) => type !== undefined)
  const isTypeByGroups = userTypes.size > 0
  const userType = isTypeByGroups ? mapped : 'uploader'
  const isAddress = email !== undefined && checkEmail('email', email).length === 0
  const toName = (text: string, fallback: string) => (isStorable(text) && firstCharacters(text, MAX_NAME_LENGTH)) || fallback
  return {
    issuer,
    subject,
    userType,
    isTypeByGroups,
    verifiedEmail: verifiedEmail !== undefined && isStorable(verifiedEmail) ? verifiedEmail : undefined,
    created:
      organisationId !== undefined && isAddress && verifiedEmail !== undefined && userType !== undefined
        ? { organisationId, email, firstName: toName(firstName, email), lastName: toName(lastName, '-') }
        : undefined,
  }
}

function requireOidc(oidc: OidcParts | undefined): OidcParts {
  if (oidc) return oidc
  throw new DomainError('failed_precondition', 'OIDC_DISABLED', 'no identity provider is configured; sign in by password')
}
