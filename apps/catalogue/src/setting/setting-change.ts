import { type FieldError, requireValid } from '@vitascope/errors'
import { applyMask } from '@vitascope/request'
import { SETTING_PATHS, type SettingFields } from './setting.ts'
import { checkSetting } from './setting-checks.ts'

/** A change of the password. A new one is the lower-case hexadecimal SHA-1 of the password. */
export type PasswordChange = { kind: 'keep' } | { kind: 'remove' } | { kind: 'set'; sha1: string }

/** The values of a request. A mask selects the values to apply. */
export type RequestedSetting = SettingFields & { password: string; passwordProtected: boolean }

const PASSWORD_PATHS = ['password', 'password_protected']

/**
 * Returns the fields `current` with the masked fields of `requested`, and the password change. Throws
 * `invalid` with every invalid field.
 */
export function changeSetting(
  current: SettingFields & { passwordProtected: boolean },
  requested: RequestedSetting,
  mask: readonly string[],
): { fields: SettingFields; password: PasswordChange } {
  const fieldMask = mask.filter((path) => !PASSWORD_PATHS.includes(path))
  const { fields, maskedKeys, problems } = applyMask<SettingFields, typeof current>(current, requested, fieldMask, SETTING_PATHS)
  requireValid([...problems, ...checkSetting(fields, maskedKeys), ...checkPassword(current, requested, mask)])
  return { fields, password: toPasswordChange(requested, mask) }
}

/** Returns the requested password change. An empty password does not change the stored password. */
function toPasswordChange(requested: Pick<RequestedSetting, 'password' | 'passwordProtected'>, mask: readonly string[]): PasswordChange {
  if (mask.includes('password') && requested.password !== '') return { kind: 'set', sha1: requested.password }
  return mask.includes('password_protected') && !requested.passwordProtected ? { kind: 'remove' } : { kind: 'keep' }
}

/** Returns whether a text is a lower-case hexadecimal SHA-1. Other texts match no password. */
export function isSha1(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text)
}

function checkPassword(current: { passwordProtected: boolean }, requested: RequestedSetting, mask: readonly string[]): FieldError[] {
  const change = toPasswordChange(requested, mask)
  const isProtectionRequested = mask.includes('password_protected')
  if (change.kind === 'set') {
    return [
      ...(isSha1(change.sha1) ? [] : [{ field: 'password', message: 'must be the lower-case hexadecimal SHA-1 of the password' }]),
      ...(isProtectionRequested && !requested.passwordProtected
        ? [{ field: 'password_protected', message: 'must not be 0 if a password is set' }]
        : []),
    ]
  }
  return isProtectionRequested && requested.passwordProtected && !current.passwordProtected
    ? [{ field: 'password_protected', message: 'requires a password; send password too' }]
    : []
}
