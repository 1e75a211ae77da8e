import type {
  BeginPasskeyRegistrationResponse,
  BeginPasskeySignInResponse,
  CredentialDescriptor,
  Passkey,
} from '@vitascope/proto/auth/v1/passkey'
import { z } from 'zod'
import { formatOptionalTimestamp, required, schema } from '../../server/schema/response-format.ts'
import { EXAMPLE_BYTES } from './passkey-fields.ts'

export const PasskeyResponse = z.object({
  id: schema.id('passkey'),
  name: schema.text('Name that the user chose.', 'Laptop'),
  backed_up: schema.bool('Whether the passkey is also stored elsewhere, such as in an account of a password manager.'),
  time_created: schema.timestamp('Time of the registration.'),
  last_used: schema.timestamp('Time of the last sign-in. Empty before the first one.'),
})

export function passkeyResponse(passkey: Passkey): z.input<typeof PasskeyResponse> {
  return {
    id: passkey.passkeyId,
    name: passkey.name,
    backed_up: passkey.backedUp,
    time_created: formatOptionalTimestamp(passkey.createTime),
    last_used: formatOptionalTimestamp(passkey.lastUsedTime),
  }
}

const started = {
  browser_secret: schema.text('A secret of the browser, which the next request must have too.', EXAMPLE_BYTES),
  expires: schema.timestamp('Time from which the challenge is rejected.'),
}
const challenge = schema.text('The challenge.', EXAMPLE_BYTES)
const descriptors = (description: string) =>
  z
    .array(
      z.object({ type: z.literal('public-key'), id: schema.text('Id of the credential.', EXAMPLE_BYTES), transports: z.array(z.string()) }),
    )
    .meta({ description })

/** `PublicKeyCredentialCreationOptionsJSON` of WebAuthn. */
export const StartedRegistrationResponse = z.object({
  options: z
    .object({
      rp: z.object({
        id: schema.text('Host of the public URL.', 'video.example.org'),
        name: schema.text('Name of the platform.', 'Vitascope'),
      }),
      user: z.object({
        id: schema.text('Handle of the user.', 'dXNlcjox'),
        name: schema.text('Email address.', 'ada@example.org'),
        displayName: schema.text('Name.', 'Ada Byron'),
      }),
      challenge,
      pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: schema.int('COSE number of an algorithm.', -7) })),
      timeout: schema.int('Milliseconds.', 300_000),
      excludeCredentials: descriptors('Passkeys that the user has already.'),
      authenticatorSelection: z.object({
        residentKey: z.literal('required'),
        requireResidentKey: z.literal(true),
        userVerification: z.literal('required'),
      }),
      attestation: z.literal('none'),
    })
    .meta({ description: 'The JSON form of the options of `navigator.credentials.create`.' }),
  ...started,
})

/** `PublicKeyCredentialRequestOptionsJSON` of WebAuthn. */
export const StartedSignInResponse = z.object({
  options: z
    .object({
      rpId: schema.text('Host of the public URL.', 'video.example.org'),
      challenge,
      timeout: schema.int('Milliseconds.', 300_000),
      allowCredentials: descriptors('Passkeys of the user of the password. Empty without a password.'),
      userVerification: z.literal('required'),
    })
    .meta({ description: 'The JSON form of the options of `navigator.credentials.get`.' }),
  ...started,
})

const NAME = 'Vitascope'
const TIMEOUT_MS = 300_000

export function startedRegistrationResponse(registration: BeginPasskeyRegistrationResponse): z.input<typeof StartedRegistrationResponse> {
  const user = required(registration.user, 'user')
  return {
    options: {
      rp: { id: registration.rpId, name: NAME },
      user: { id: registration.userHandle, name: user.email, displayName: `${user.firstName} ${user.lastName}` },
      challenge: registration.challenge,
      pubKeyCredParams: registration.algorithms.map((alg) => ({ type: 'public-key', alg })),
      timeout: TIMEOUT_MS,
      excludeCredentials: registration.excluded.map(toDescriptor),
      authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
      attestation: 'none',
    },
    browser_secret: registration.browserSecret,
    expires: formatOptionalTimestamp(registration.expireTime),
  }
}

export function startedSignInResponse(signIn: BeginPasskeySignInResponse): z.input<typeof StartedSignInResponse> {
  return {
    options: {
      rpId: signIn.rpId,
      challenge: signIn.challenge,
      timeout: TIMEOUT_MS,
      allowCredentials: signIn.allowed.map(toDescriptor),
      userVerification: 'required',
    },
    browser_secret: signIn.browserSecret,
    expires: formatOptionalTimestamp(signIn.expireTime),
  }
}

function toDescriptor({ credentialId, transports }: CredentialDescriptor) {
  return { type: 'public-key' as const, id: credentialId, transports }
}
