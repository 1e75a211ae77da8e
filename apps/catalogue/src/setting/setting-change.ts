import { type FieldError, requireValid } from '@vitascope/errors'
import { applyMask } from '@vitascope/request'
import { SETTING_PATHS, type SettingFields } from './setting.ts'
import { checkSetting } from './setting-checks.ts'

/** A change of the password. A new one is the lower-case hexadecimal SHA-1 of the password. */
export type PasswordChange = { kind: 'keep' } | { kind: 'remove' } | { kind: 'set'; sha1: string }

/** New values; a mask selects those to apply. */
export type RequestedSetting = SettingFields & { password: string; passwordProtected: boolean }

const PASSWORD_PATHS = ['password', 'password_protected']

/**
 * Returns the fields with the masked ones replaced by those of `requested`, and the password change.
 * Throws `invalid` with every invalid field.
 */
export function changeSetting(
  current: SettingFields & { passwordProtected: boolean },
  requested: RequestedSetting,
  mask: readonly string[],
): { fields: SettingFields; password: PasswordChange } {
  const ownMask = mask.filter((path) => !PASSWORD_PATHS.includes(path))
  const { fields, maskedKeys, problems } = applyMask<SettingFields, typeof current>(current, requested, ownMask, SETTING_PATHS)
  requireValid([...problems, ...checkSetting(fields, maskedKeys), ...checkPassword(current, requested, mask)])
  return { fields, password: passwordChange(requested, mask) }
}

/** Returns the requested password change. An empty password keeps the stored one. */
function passwordChange(requested: Pick<RequestedSetting, 'password' | 'passwordProtected'>, mask: readonly string[]): PasswordChange {
  if (mask.includes('password') && requested.password !== '') return { kind: 'set', sha1: requested.password }
  return mask.includes('password_protected') && !requested.passwordProtected ? { kind: 'remove' } : { kind: 'keep' }
}

/** Any other text could never match a password. */
export function isSha1(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text)
}

function checkPassword(current: { passwordProtected: boolean }, requested: RequestedSetting, mask: readonly string[]): FieldError[] {
  const change = passwordChange(requested, mask)
  const isProtectionSent = mask.includes('password_protected')
  if (change.kind === 'set') {
    return [
      ...(isSha1(change.sha1) ? [] : [{ field: 'password', message: 'must be the lower-case hexadecimal SHA-1 of the password' }]),
      ...(isProtectionSent && !requested.passwordProtected
        ? [{ field: 'password_protected', message: 'must not be 0 if a password is set' }]
        : []),
    ]
  }
  return isProtectionSent && requested.passwordProtected && !current.passwordProtected
    ? [{ field: 'password_protected', message: 'requires a password; send password too' }]
    : []
}
