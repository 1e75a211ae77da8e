import { Vitascope, VitascopeError } from '@vitascope/sdk'
import { translateFieldMessage } from '../translation/field-message.ts'
import { valueLabel } from '../translation/value-label.ts'

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

/** Returns one sentence for people, in the language of the console if there is a text for the code of the error. */
export function toMessage(error: unknown): string {
  if (!(error instanceof VitascopeError)) return error instanceof Error ? error.message : String(error)
  if (error.fields.length > 0)
    return error.fields.map(({ field, message }) => `${fieldLabel(field)}: ${translateFieldMessage(message)}`).join('; ')
  return valueLabel('errorCodes', error.code, error.detail.charAt(0).toUpperCase() + error.detail.slice(1))
}

/** Returns the name of a field such as `security.allowed_ips[0]`: that of its list, or of the object that contains it. */
function fieldLabel(field: string): string {
  const names = field.replace(/\[\d+\]/g, '').split('.')
  return valueLabel('fields', names.at(-1) ?? '', valueLabel('fields', names[0] ?? '', field))
}

/** Codes of errors about one field that the platform does not name. */
const FIELD_OF_CODE: Readonly<Record<string, string>> = { email_taken: 'email' }

/** Returns the message for a field of a form, or undefined if the error is not about that field. */
export function fieldMessage(error: unknown, field: string): string | undefined {
  if (!(error instanceof VitascopeError)) return undefined
  if (FIELD_OF_CODE[error.code] === field) return toMessage(error)
  const found = error.fields.find((entry) => entry.field === field || entry.field.startsWith(`${field}[`))
  return found && translateFieldMessage(found.message)
}
