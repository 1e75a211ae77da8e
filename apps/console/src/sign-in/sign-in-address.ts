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

/** Parameters with which an identity provider returns the user. */
export interface ProviderResponse {
  code: string
  state: string
  iss?: string
}

/** Returns the parameters of an identity provider, or undefined if the address has none. */
export function readProviderResponse(search: string): ProviderResponse | undefined {
  const values = new URLSearchParams(search)
  const [code, state, iss] = [values.get('code'), values.get('state'), values.get('iss')]
  return code && state ? { code, state, ...(iss !== null && { iss }) } : undefined
}
