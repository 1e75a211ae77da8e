import type { Recipient } from './success-message.ts'

/** Returns whether a text is exactly one address, without characters that have a meaning in a header or an envelope. */
export function isPlainAddress(email: string): boolean {
  return email.length <= 254 && /^[^\s\p{Cc}<>()[\]\\,;:@"]+@[^\s\p{Cc}<>()[\]\\,;:@"]+$/u.test(email)
}

/** Parses `Name <name@example.org>` or a plain address. Returns undefined if the text is neither. */
export function parseSender(text: string): Recipient | undefined {
  const [, name = '', inside, alone] = /^(?:([^<>\p{Cc}"]*)<([^<>]+)>|([^<>]+))$/u.exec(text.trim()) ?? []
  const email = inside ?? alone ?? ''
  return isPlainAddress(email) ? { email, name: name.trim() } : undefined
}
