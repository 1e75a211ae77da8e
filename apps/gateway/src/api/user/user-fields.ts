import { text } from '../../server/schema/fields.ts'

export const personName = (description: string, example: string) => text(100, { min: 1 }, { description, example })
export const email = text(
  254,
  { min: 3, pattern: /^[^\s@]+@[^\s@]+$/, message: 'must be an email address' },
  { description: 'Email address. It is unique, and upper and lower case are equal.', example: 'ada@example.org' },
)
export const password = text(
  128,
  { min: 8 },
  { description: 'Password of the user. It is stored as an argon2id hash and never returned.', format: 'password' },
)
