import type { Result } from '@vitascope/sdk'
import { guestClient } from '../api/client.ts'
import type { ProviderResponse } from './sign-in-address.ts'

const SECRET_NAME = 'vitascope-browser-secret'

/** Opens the page of the identity provider, which returns the user to `/console/sign-in`. */
export async function openProvider(): Promise<void> {
  const { authorization_url, browser_secret } = await guestClient.call('beginOidcSignIn')
  sessionStorage.setItem(SECRET_NAME, browser_secret)
  location.assign(authorization_url)
}

/** Ends the sign-in of a user whom the identity provider has returned. */
export async function completeProviderSignIn(response: ProviderResponse): Promise<Result<'completeOidcSignIn'>> {
  const browser_secret = sessionStorage.getItem(SECRET_NAME) ?? ''
  sessionStorage.removeItem(SECRET_NAME)
  // The parameters are valid once.
  history.replaceState(null, '', location.pathname)
  return await guestClient.call('completeOidcSignIn', { payload: { ...response, browser_secret } })
}
