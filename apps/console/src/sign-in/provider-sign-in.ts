import { useQuery } from '@tanstack/react-query'
import type { Result } from '@vitascope/sdk'
import { Vitascope, VitascopeError } from '@vitascope/sdk'
import { guestClient } from '../api/client.ts'
import type { ProviderReturn } from './sign-in-address.ts'

const SECRET_NAME = 'vitascope-browser-secret'
/** The page that required the sign-in. */
const PAGE_NAME = 'vitascope-page-before-sign-in'

/** The return of a user without a sign-in. The message is the error code of the provider, or the reason. */
class ProviderRejection extends Error {}

/** Returns true if users can sign in at an identity provider. False until the platform has responded. */
export function useHasProvider(): boolean {
  const { data } = useQuery({
    queryKey: ['identity provider'],
    queryFn: ({ signal }) => guestClient.call('getOidcProvider', { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  })
  return data?.configured === true
}

/** Opens the page of the identity provider, which returns the user to `/console/sign-in`. */
export async function openProvider(): Promise<void> {
  const { authorization_url, browser_secret } = await guestClient.call('beginOidcSignIn')
  sessionStorage.setItem(SECRET_NAME, browser_secret)
  sessionStorage.setItem(PAGE_NAME, location.href.slice(location.origin.length))
  location.assign(authorization_url)
}

/** Ends the sign-in of a user whom the identity provider has returned. `page` is the path of the page that required it. */
export async function completeProviderSignIn(
  returned: ProviderReturn,
): Promise<{ session: Result<'completeOidcSignIn'>; page: string | null }> {
  const [browser_secret, page] = [take(SECRET_NAME), take(PAGE_NAME)]
  // The parameters are valid once.
  history.replaceState(null, '', location.pathname)
  if ('error' in returned) throw new ProviderRejection(returned.error)
  // Another browser began the sign-in, or this response was used before.
  if (browser_secret === null) throw new ProviderRejection('no sign-in was started')
  // The first attempt uses up the response of the provider, so a second one would hide the reason.
  const client = new Vitascope({ url: location.origin, credentials: 'same-origin', maxRetries: 0 })
  return { session: await client.call('completeOidcSignIn', { payload: { ...returned.response, browser_secret } }), page }
}

/** Returns the key of the translated message, or undefined if the error has only its own message. */
export function readProviderProblem(error: unknown) {
  if (error instanceof ProviderRejection) return error.message === 'access_denied' ? 'signIn.providerCancelled' : 'signIn.providerFailed'
  if (!(error instanceof VitascopeError)) return undefined
  return PROBLEMS.get(error.code)
}

const PROBLEMS = new Map(
  Object.entries({
    oidc_failed: 'signIn.providerFailed',
    oidc_user_unknown: 'signIn.providerUserUnknown',
    oidc_unavailable: 'signIn.providerUnavailable',
    oidc_disabled: 'signIn.providerDisabled',
  } as const),
)

function take(name: string): string | null {
  const text = sessionStorage.getItem(name)
  sessionStorage.removeItem(name)
  return text
}
