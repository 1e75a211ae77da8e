import { z } from 'zod'
import { list, object, text } from '../../server/schema/fields.ts'

export const EXAMPLE_BYTES = 'k2Zr8yQ0tWv5nXb1LdT9uJm6cP4hF7gA3eSiO-_aBcD'
const MAX_ID_LENGTH = 1_364

const binary = (max: number, description: string) => text(max, { min: 1 }, { description, example: EXAMPLE_BYTES })

export const passkeyName = text(100, { min: 1 }, { description: 'Name of the passkey.', example: 'Laptop' })

/** The secret of the response that began a registration or sign-in. */
export const browserSecret = text(100, { min: 1 }, { description: 'The secret of the response that began.', example: EXAMPLE_BYTES })

/** `RegistrationResponseJSON` of WebAuthn. Browsers add members, which are ignored. */
export const registrationCredential = object(
  z.object({
    id: binary(MAX_ID_LENGTH, 'Id of the credential.'),
    response: object(
      z.object({
        clientDataJSON: binary(10_000, 'Client data.'),
        attestationObject: binary(20_000, 'Attestation object.'),
        transports: list(
          text(50, { min: 1 }),
          { max: 20 },
          { description: 'How the authenticator can be reached.', example: ['internal'] },
        ).optional(),
      }),
      { description: 'Response of the authenticator.' },
    ),
  }),
  {
    description: 'The JSON form of the result of `navigator.credentials.create`. Other members are ignored.',
    example: { id: EXAMPLE_BYTES, response: { clientDataJSON: EXAMPLE_BYTES, attestationObject: EXAMPLE_BYTES, transports: ['internal'] } },
  },
)

/** `AuthenticationResponseJSON` of WebAuthn. Browsers add members, which are ignored. */
export const signInCredential = object(
  z.object({
    id: binary(MAX_ID_LENGTH, 'Id of the credential.'),
    response: object(
      z.object({
        clientDataJSON: binary(10_000, 'Client data.'),
        authenticatorData: binary(10_000, 'Authenticator data.'),
        signature: binary(10_000, 'Signature.'),
        userHandle: text(200, {}, { description: 'Handle of the user.', example: 'dXNlcjox' }).nullable().optional(),
      }),
      { description: 'Response of the authenticator.' },
    ),
  }),
  {
    description: 'The JSON form of the result of `navigator.credentials.get`. Other members are ignored.',
    example: { id: EXAMPLE_BYTES, response: { clientDataJSON: EXAMPLE_BYTES, authenticatorData: EXAMPLE_BYTES, signature: EXAMPLE_BYTES } },
  },
)

/** Returns the origin of the pages of the platform. No request can choose another one. */
export function pageOrigin(publicUrl: string): string {
  return new URL(publicUrl).origin
}
