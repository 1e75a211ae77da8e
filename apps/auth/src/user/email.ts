import type { FieldError } from '@vitascope/errors'
import { isStorable } from '@vitascope/request'

const LOCAL_PART = /^[^\s@<>()[\],;:\\"\p{C}]{1,64}$/u
const DOMAIN_LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u

/** Returns the problems of an email address. */
export function checkEmail(field: string, email: string): FieldError[] {
  if (email === '') return [{ field, message: 'is required' }]
  if (email.length > 254) return [{ field, message: 'must have at most 254 characters' }]
  const at = email.lastIndexOf('@')
  const wellFormed =
    isStorable(email) &&
    LOCAL_PART.test(email.slice(0, Math.max(at, 0))) &&
    email
      .slice(at + 1)
      .split('.')
      .every((label) => DOMAIN_LABEL.test(label))
  return wellFormed ? [] : [{ field, message: 'must be an email address' }]
}
