import { z } from 'zod'
import { Reply } from '../../server/route/reply.ts'
import { route } from '../../server/route/route.ts'
import { id } from '../../server/schema/fields.ts'
import { required, schema } from '../../server/schema/response-format.ts'
import { browserSecret, pageOrigin, passkeyName, registrationCredential } from './passkey-fields.ts'
import { PasskeyResponse, passkeyResponse, StartedRegistrationResponse, startedRegistrationResponse } from './passkey-response.ts'
import { recentSignInCodes } from './recent-sign-in.ts'

const section = 'Passkeys'
const registrationCodes = {
  passkey_not_allowed: 'Invited users, and users that an identity provider created, cannot have passkeys.',
  passkeys_full: 'The user has 20 passkeys.',
}

export const beginPasskeyRegistration = route({
  post: ['/passkey/registration'],
  operationId: 'beginPasskeyRegistration',
  section,
  access: 'user',
  summary: 'Begin the registration of a passkey',
  description:
    'Returns options of `navigator.credentials.create` for a page of the platform. `POST /passkey` ends the registration within 5 minutes. The host and ' +
    'origin of the public URL are those of the passkey. Browsers reject hosts that are IP addresses. A session must be at most 5 minutes old.',
  status: 201,
  response: StartedRegistrationResponse,
  errorCodes: { ...registrationCodes, ...recentSignInCodes },
  async handle(_, { services, call, publicUrl }) {
    const started = await services.passkeys.beginPasskeyRegistration({ origin: pageOrigin(publicUrl) }, call)
    return new Reply(startedRegistrationResponse(started), { status: 201, headers: { 'Cache-Control': 'no-store' } })
  },
})

export const registerPasskey = route({
  post: ['/passkey'],
  operationId: 'registerPasskey',
  section,
  access: 'user',
  summary: 'Register a passkey',
  description:
    'Stores the passkey that an authenticator has created with the options of `POST /passkey/registration`. A challenge is accepted once, and only with the ' +
    '`browser_secret` of the same response. A user has at most 20 passkeys.',
  payload: z.strictObject({ name: passkeyName, browser_secret: browserSecret, credential: registrationCredential }),
  status: 201,
  response: PasskeyResponse,
  errorCodes: {
    ...registrationCodes,
    passkey_failed: 'The challenge is unknown, expired, used or of another browser, or the response of the authenticator is invalid.',
    passkey_exists: 'The passkey is registered already.',
  },
  async handle({ payload: { name, browser_secret, credential } }, { services, call, publicUrl }) {
    const { passkey } = await services.passkeys.registerPasskey(
      {
        origin: pageOrigin(publicUrl),
        browserSecret: browser_secret,
        name,
        credentialId: credential.id,
        clientData: credential.response.clientDataJSON,
        attestationObject: credential.response.attestationObject,
        transports: credential.response.transports ?? [],
      },
      call,
    )
    return passkeyResponse(required(passkey, 'passkey'))
  },
})

export const listPasskeys = route({
  get: ['/passkey'],
  operationId: 'listOwnPasskeys',
  section,
  access: 'user',
  summary: 'List your passkeys',
  description: 'Returns the passkeys of the user, oldest first. There are at most 20.',
  response: z.array(PasskeyResponse),
  async handle(_, { services, call }) {
    const { passkeys } = await services.passkeys.listPasskeys({}, call)
    return passkeys.map(passkeyResponse)
  },
})

export const renamePasskey = route({
  patch: ['/passkey/:passkeyId'],
  operationId: 'renamePasskey',
  section,
  access: 'user',
  summary: 'Rename a passkey',
  params: z.object({ passkeyId: id('passkey') }),
  payload: z.strictObject({ name: passkeyName }),
  record: PasskeyResponse,
  response: PasskeyResponse,
  async handle({ params, payload }, { services, call }) {
    const { passkey } = await services.passkeys.renamePasskey({ passkeyId: params.passkeyId, name: payload.name }, call)
    return passkeyResponse(required(passkey, 'passkey'))
  },
})

export const deletePasskey = route({
  delete: ['/passkey/:passkeyId'],
  operationId: 'deletePasskey',
  section,
  access: 'user',
  summary: 'Delete a passkey',
  description:
    'Sessions of the user continue. The last passkey cannot be deleted while `passkey_required` is set. A session must be at most 5 minutes old.',
  params: z.object({ passkeyId: id('passkey') }),
  response: z.object({ id: schema.id('passkey'), deleted: z.literal(true) }),
  errorCodes: { last_passkey: 'The sign-in of the user requires a passkey, and this is the last one.', ...recentSignInCodes },
  async handle({ params }, { services, call }) {
    await services.passkeys.deletePasskey({ passkeyId: params.passkeyId }, call)
    return { id: params.passkeyId, deleted: true as const }
  },
})

export const deleteUserPasskeys = route({
  delete: ['/user/:userId/passkeys'],
  operationId: 'deleteUserPasskeys',
  section,
  access: 'super',
  summary: 'Delete all passkeys of a user',
  description:
    'For a user that has lost its devices. The password alone signs the user in again, and all sessions of the user end. A super user may do this for users ' +
    'of its own organisation, except `system` users.',
  params: z.object({ userId: id('user') }),
  response: z.object({ user_id: schema.id('user'), deleted: z.literal(true) }),
  errorCodes: {
    system_only: 'Only a system key may delete passkeys of system users.',
    ...recentSignInCodes,
  },
  async handle({ params }, { services, call }) {
    await services.passkeys.deleteUserPasskeys({ userId: params.userId }, call)
    return { user_id: params.userId, deleted: true as const }
  },
})

export const passkeyRoutes = [beginPasskeyRegistration, registerPasskey, listPasskeys, renamePasskey, deletePasskey, deleteUserPasskeys]
