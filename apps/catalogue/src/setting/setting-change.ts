import { type FieldError, invalid } from '@vitascope/errors'
import { SETTING_PATHS, type SettingFields } from './setting.ts'
import { checkSetting } from './setting-checks.ts'

/** What a change does to the password; a new one as the lower-case hexadecimal SHA-1 of what people type. */
export type PasswordChange = { kind: 'keep' } | { kind: 'remove' } | { kind: 'set'; sha1: string }

/** New values, of which a mask names those that count. */
export type GivenSetting = SettingFields & { password: string; passwordProtected: boolean }

const PASSWORD_PATHS = ['password', 'password_protected']

/** The fields with those that the mask names taken from `given`; refuses with every bad field at once. */
export function changeSetting(
  now: SettingFields & { passwordProtected: boolean },
  given: GivenSetting,
  mask: readonly string[],
): { fields: SettingFields; password: PasswordChange } {
  const unknown = mask
    .filter((path) => !SETTING_PATHS.has(path) && !PASSWORD_PATHS.includes(path))
    .map((path) => ({ field: 'update_mask', message: `names no field: ${path.slice(0, 100)}` }))
  const keys = new Set(mask.flatMap((path) => SETTING_PATHS.get(path) ?? []))
  const fields = { ...now, ...Object.fromEntries([...keys].map((key) => [key, given[key]])) }
  const problems = [...unknown, ...checkSetting(fields, keys), ...checkPassword(now, given, mask)]
  if (problems.length > 0) throw invalid(problems)
  return { fields, password: passwordChange(given, mask) }
}

/** What is asked of the password; an empty one keeps what is stored. */
function passwordChange(given: Pick<GivenSetting, 'password' | 'passwordProtected'>, mask: readonly string[]): PasswordChange {
  if (mask.includes('password') && given.password !== '') return { kind: 'set', sha1: given.password }
  return mask.includes('password_protected') && !given.passwordProtected ? { kind: 'remove' } : { kind: 'keep' }
}

/** Anything but a digest in the one spelling would be a password that nobody can ever type. */
export function isSha1(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text)
}

function checkPassword(now: { passwordProtected: boolean }, given: GivenSetting, mask: readonly string[]): FieldError[] {
  const change = passwordChange(given, mask)
  const named = mask.includes('password_protected')
  if (change.kind === 'set') {
    return [
      ...(isSha1(change.sha1) ? [] : [{ field: 'password', message: 'must be the lower-case hexadecimal SHA-1 of the password' }]),
      ...(named && !given.passwordProtected ? [{ field: 'password_protected', message: 'must not be 0 beside a password' }] : []),
    ]
  }
  return named && given.passwordProtected && !now.passwordProtected
    ? [{ field: 'password_protected', message: 'needs a password: send password too' }]
    : []
}
