import type { FieldError } from '@vitascope/errors'
import { checkText } from './text.ts'

const LOCAL_PART = /^[^\s@<>()[\],;:\\"\p{C}]{1,64}$/u
const DOMAIN_LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?$/u

/**
 * Returns the problems of an email address. Accepts the addresses that mail programs accept, except
 * those with quoted parts or comments. The length limits are those of SMTP.
 */
export function checkEmail(field: string, email: string): FieldError[] {
  if (email === '') return [{ field, message: 'is required' }]
  const problems = checkText(field, email, { max: 254 })
  if (problems.length > 0) return problems
  const at = email.lastIndexOf('@')
  const isValid =
    LOCAL_PART.test(email.slice(0, Math.max(at, 0))) &&
    email
      .slice(at + 1)
      .split('.')
      .every((label) => DOMAIN_LABEL.test(label))
  return isValid ? [] : [{ field, message: 'must be an email address' }]
}
