import type { Result, Vitascope } from '@vitascope/sdk'
import i18next from 'i18next'
import { addEnglish } from '../translation/add-english.ts'
import { passkeyTexts } from '../translation/english/passkeys.ts'
import { guestClient } from './client.ts'

addEnglish(passkeyTexts)

/**
 * Returns whether pages at this address can use passkeys. Browsers offer none to pages without https, except on localhost,
 * and none to hosts that are IP addresses.
 */
export function canUsePasskeys(): boolean {
  return 'PublicKeyCredential' in window && !/^\[|^\d+(\.\d+){3}$/.test(location.hostname)
}

/**
 * Signs in by a passkey. With a password, only passkeys of its user are accepted. Throws an error with a
 * message for users if they cancel.
 */
export async function signInByPasskey(password?: { email: string; password: string }): Promise<Result<'completePasskeySignIn'>> {
  const { startAuthentication } = await loadLibrary()
  const { options, browser_secret } = await guestClient.call('beginPasskeySignIn', { payload: password ?? {} })
  const { id, response } = await startAuthentication({ optionsJSON: options }).catch(throwReadable)
  const { clientDataJSON, authenticatorData, signature, userHandle = null } = response
  const credential = { id, response: { clientDataJSON, authenticatorData, signature, userHandle } }
  return await guestClient.call('completePasskeySignIn', { payload: { browser_secret, credential } })
}

/** Creates a passkey with an authenticator of the user, and registers it. */
export async function addPasskey(api: Vitascope, name: string): Promise<void> {
  const { startRegistration } = await loadLibrary()
  const { options, browser_secret } = await api.call('beginPasskeyRegistration')
  const { id, response } = await startRegistration({ optionsJSON: options }).catch(throwReadable)
  const { clientDataJSON, attestationObject, transports = [] } = response
  const credential = { id, response: { clientDataJSON, attestationObject, transports } }
  await api.call('registerPasskey', { payload: { name, browser_secret, credential } })
}

/** The library is loaded when it is used. */
function loadLibrary() {
  return import('@simplewebauthn/browser')
}

/** Replaces the errors of browsers that users can cause. */
function throwReadable(error: unknown): never {
  const name = error instanceof Error ? error.name : ''
  if (name === 'NotAllowedError' || name === 'AbortError') throw new Error(i18next.t('passkeys.cancelled'), { cause: error })
  if (name === 'InvalidStateError') throw new Error(i18next.t('passkeys.exists'), { cause: error })
  throw error
}
