import { Vitascope, VitascopeError } from '@vitascope/sdk'

/** Client without an organisation, for signing in. All requests have the cookie of the session, if there is one. */
export const guestClient = new Vitascope({ url: location.origin, credentials: 'same-origin' })

/** Client for calls of system users about all organisations. */
export const systemClient = new Vitascope({ url: location.origin, credentials: 'same-origin' })

/** Returns a client whose calls are for an organisation. */
export function createClient(organisationId: string): Vitascope {
  return new Vitascope({ url: location.origin, credentials: 'same-origin', organisationId })
}

/** Returns true if the request was rejected because its session has ended. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof VitascopeError && error.status === 401
}

/** Returns true if the user of a right password also requires a passkey. */
export function isPasskeyRequired(error: unknown): boolean {
  return error instanceof VitascopeError && error.code === 'passkey_required'
}

/** Returns true if the request is accepted only for some minutes after a sign-in. */
export function isRecentSignInRequired(error: unknown): boolean {
  return error instanceof VitascopeError && error.code === 'recent_sign_in_required'
}

/** Returns true if the record does not exist, or no longer. */
export function isMissing(error: unknown): boolean {
  return error instanceof VitascopeError && error.status === 404
}

/** Returns true if another person has changed the record since it was read. */
export function isConflict(error: unknown): boolean {
  return error instanceof VitascopeError && error.code === 'record_changed'
}

/** Returns one sentence for people. */
export function toMessage(error: unknown): string {
  if (error instanceof VitascopeError && error.fields.length > 0) {
    return error.fields.map(({ field, message }) => `${field}: ${message}`).join('; ')
  }
  return error instanceof VitascopeError ? error.detail : error instanceof Error ? error.message : String(error)
}

/** Returns the message for a field of a form, or undefined if the error is not about that field. */
export function fieldMessage(error: unknown, field: string): string | undefined {
  if (!(error instanceof VitascopeError)) return undefined
  return error.fields.find((entry) => entry.field === field || entry.field.startsWith(`${field}[`))?.message
}
