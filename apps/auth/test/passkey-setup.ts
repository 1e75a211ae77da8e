import type { Call } from '@vitascope/grpc'
import type { User } from '@vitascope/proto/auth/v1/user'
import { createCredential, type ResponseChanges, type SoftwareCredential, signChallenge } from '@vitascope/testing/software-authenticator'
import type { startAuth } from './auth-setup.ts'
import { as, by } from './test-auth.ts'

export const ORIGIN = 'https://videos.example'
export const PASSWORD = 'correct horse battery'
/** The error of every problem of a response. */
export const FAILED = { kind: 'forbidden', reason: 'PASSKEY_FAILED' }

/** What a test changes in a correct ceremony. */
export interface Changes extends ResponseChanges {
  challenge?: string
  rpId?: string
  /** Origin of the page that called the authenticator. */
  origin?: string
  browserSecret?: string
  userHandle?: string | undefined
}

export const guest = () => by({ kind: 'guest' })
export const callOf = ({ userId, organisationId }: User) => as('uploader', organisationId, userId)

/** Returns the steps of users and their browsers. */
export function passkeySteps(getSetup: () => Awaited<ReturnType<typeof startAuth>>) {
  const passkeys = () => getSetup().auth.passkeys
  const begin = (credentials?: { email: string; password: string }) =>
    passkeys().beginPasskeySignIn({ origin: ORIGIN, credentials }, guest())
  return {
    passkeys,
    begin,
    list: async (user: User) => (await passkeys().listPasskeys({}, callOf(user))).passkeys,
    /** Registers a passkey as a browser does. */
    async register(user: User, changes: Changes = {}, { name = 'Laptop', call = callOf(user) }: { name?: string; call?: Call } = {}) {
      const { challenge, rpId, userHandle, browserSecret } = await passkeys().beginPasskeyRegistration({ origin: ORIGIN }, callOf(user))
      const { credential, response } = createCredential({ challenge, rpId, origin: ORIGIN, ...changes, userHandle }, changes)
      const request = { origin: ORIGIN, browserSecret: changes.browserSecret ?? browserSecret, name, ...response }
      const { passkey } = await passkeys().registerPasskey(request, call)
      return { credential, passkey, request }
    },
    /** Signs in by a passkey as a browser does. */
    async signIn(credential: SoftwareCredential, changes: Changes = {}, credentials?: { email: string; password: string }) {
      const { challenge, rpId, browserSecret } = await begin(credentials)
      const request = {
        origin: ORIGIN,
        browserSecret: changes.browserSecret ?? browserSecret,
        address: '192.0.2.7',
        userAgent: 'Firefox',
        ...signChallenge(credential, { challenge, rpId, origin: ORIGIN, ...changes }, changes),
        ...('userHandle' in changes && { userHandle: changes.userHandle }),
      }
      return { request, ...(await passkeys().completePasskeySignIn(request, guest())) }
    },
    signInByPassword: (email: string, password = PASSWORD) =>
      getSetup().auth.sessions.createSession({ email, password, address: '', userAgent: '' }, guest()),
    requirePasskey: (user: User, passkeyRequired = true) =>
      passkeys().updateSignInSettings({ settings: { passkeyRequired } }, callOf(user)),
  }
}
