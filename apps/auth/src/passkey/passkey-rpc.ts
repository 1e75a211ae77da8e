import type { Handlers } from '@vitascope/grpc'
import type { Passkey as PasskeyMessage, PasskeyServiceService } from '@vitascope/proto/auth/v1/passkey'
import { toUserMessage } from '../user/user-rpc.ts'
import {
  beginRegistration,
  deletePasskey,
  deleteUserPasskeys,
  getSignInSettings,
  listPasskeys,
  type Passkey,
  type PasskeyParts,
  registerPasskey,
  renamePasskey,
  updateSignInSettings,
} from './passkey.ts'
import { beginPasskeySignIn, completePasskeySignIn, type PasswordParts } from './passkey-sign-in.ts'
import { ALGORITHMS } from './webauthn.ts'

export function passkeyHandlers(passkeys: PasskeyParts, passwords: PasswordParts): Handlers<typeof PasskeyServiceService> {
  return {
    async beginPasskeyRegistration({ origin }, call) {
      const { user, ...started } = await beginRegistration(passkeys, origin, call)
      return { ...started, user: toUserMessage(user), algorithms: ALGORITHMS }
    },
    async registerPasskey(request, call) {
      return { passkey: toPasskeyMessage(await registerPasskey(passkeys, request, call)) }
    },
    async listPasskeys(_request, call) {
      return { passkeys: (await listPasskeys(passkeys, call)).map(toPasskeyMessage) }
    },
    async renamePasskey(request, call) {
      return { passkey: toPasskeyMessage(await renamePasskey(passkeys, request, call)) }
    },
    async deletePasskey({ passkeyId }, call) {
      await deletePasskey(passkeys, passkeyId, call)
      return {}
    },
    async deleteUserPasskeys({ userId }, call) {
      await deleteUserPasskeys(passkeys, userId, call)
      return {}
    },
    beginPasskeySignIn: ({ origin, credentials }, call) => beginPasskeySignIn(passkeys, passwords, { origin, credentials }, call),
    async completePasskeySignIn(request, call) {
      const { session, value, user } = await completePasskeySignIn(passkeys, request, call)
      return { session, value, user: toUserMessage(user) }
    },
    async getSignInSettings(_request, call) {
      return { settings: await getSignInSettings(passkeys, call) }
    },
    async updateSignInSettings({ settings }, call) {
      return { settings: await updateSignInSettings(passkeys, { passkeyRequired: settings?.passkeyRequired ?? false }, call) }
    },
  }
}

function toPasskeyMessage({ passkeyId, name, isBackedUp, createTime, lastUsedTime }: Passkey): PasskeyMessage {
  return { passkeyId, name, backedUp: isBackedUp, createTime, lastUsedTime }
}
