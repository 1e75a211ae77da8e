/** A link of a mail, or the link that the platform prints for its first user. */
export interface SignInLink {
  secret: string
  isFirstUser: boolean
}

/** Returns the link of an address such as `/console/sign-in#link=SECRET`, or undefined if it has none. */
export function readSignInLink(hash: string): SignInLink | undefined {
  const values = new URLSearchParams(hash.replace(/^#/, ''))
  const secret = values.get('link')
  return secret ? { secret, isFirstUser: values.has('first') } : undefined
}

/** Parameters with which an identity provider returns the user who has signed in. */
export interface ProviderResponse {
  code: string
  state: string
  iss?: string
}

/** `error` is the code with which the provider returns a user who has not signed in (RFC 6749, section 4.1.2.1). */
export type ProviderReturn = { response: ProviderResponse } | { error: string }

/** Returns the parameters of an identity provider, or undefined if the address has none. */
export function readProviderReturn(search: string): ProviderReturn | undefined {
  const values = new URLSearchParams(search)
  const [code, state, iss, error] = [values.get('code'), values.get('state'), values.get('iss'), values.get('error')]
  if (code && state) return { response: { code, state, ...(iss !== null && { iss }) } }
  return error && state ? { error } : undefined
}
