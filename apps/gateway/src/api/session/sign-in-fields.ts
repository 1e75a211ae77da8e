import { createHash } from 'node:crypto'
import { text } from '../../server/schema/fields.ts'

const MAX_PASSWORD_LENGTH = 1_000

export const emailField = text(254, { min: 1 }, { description: 'Email address of the user. Case-insensitive.', example: 'ada@example.org' })

export const passwordField = text(
  MAX_PASSWORD_LENGTH,
  { min: 1 },
  { description: 'The password. It is a secret.', example: 'correct horse battery staple' },
)

/** Returns the name under which sign-ins with an email address are counted. */
export function hashEmail(email: string): string {
  return createHash('sha256').update(email.trim().toLowerCase()).digest('hex')
}
