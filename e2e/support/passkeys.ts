import { createCredential, type SoftwareCredential, signChallenge } from '@vitascope/testing/software-authenticator'
import type { Api } from './api.ts'

export interface PasskeyRecord {
  id: string
  name: string
  backed_up: boolean
  time_created: string
  last_used: string
}

/** Response that begins a registration or a sign-in. */
interface Start<Options> {
  options: Options
  browser_secret: string
}

/** Begins a registration and creates the credential, as a page at `origin` does. Returns the payload that ends it. */
export async function createRegistration(api: Api, origin: string, name = 'Laptop') {
  const { status, body } = await api.post<Start<{ challenge: string; rp: { id: string }; user: { id: string } }>>('/passkey/registration')
  if (status !== 201) throw new Error(`the registration was rejected: ${JSON.stringify(body)}`)
  const { challenge, rp, user } = body.options
  const { credential, response } = createCredential({ challenge, rpId: rp.id, origin, userHandle: user.id })
  const { credentialId, clientData, attestationObject, transports } = response
  const payload = {
    name,
    browser_secret: body.browser_secret,
    // Browsers send more members than the platform uses.
    credential: {
      id: credentialId,
      rawId: credentialId,
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON: clientData, attestationObject, transports, publicKeyAlgorithm: -7 },
    },
  }
  return { credential, payload }
}

/** Registers a passkey of the user of a client. */
export async function registerPasskey(
  api: Api,
  origin: string,
  name?: string,
): Promise<{ credential: SoftwareCredential; passkey: PasskeyRecord }> {
  const { credential, payload } = await createRegistration(api, origin, name)
  const { status, body } = await api.post<PasskeyRecord>('/passkey', payload)
  if (status !== 201) throw new Error(`the passkey was rejected: ${JSON.stringify(body)}`)
  return { credential, passkey: body }
}

/** Begins a sign-in and signs its challenge. Returns the payload that ends it. */
export async function signSignIn(
  guest: Api,
  origin: string,
  credential: SoftwareCredential,
  password?: { email: string; password: string },
) {
  const { status, body } = await guest.post<Start<{ challenge: string; rpId: string; allowCredentials: { id: string }[] }>>(
    '/session/passkey',
    password,
  )
  if (status !== 201) throw new Error(`the sign-in was rejected: ${JSON.stringify(body)}`)
  const { challenge, rpId, allowCredentials } = body.options
  const { credentialId, clientData, authenticatorData, signature, userHandle } = signChallenge(credential, { challenge, rpId, origin })
  const payload = {
    browser_secret: body.browser_secret,
    credential: {
      id: credentialId,
      rawId: credentialId,
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON: clientData, authenticatorData, signature, userHandle },
    },
  }
  return { payload, allowed: allowCredentials.map(({ id }) => id) }
}
