import type { Recipient } from './message.ts'

/** Returns whether a text is one email address without characters that are special in a header or an envelope. */
export function isPlainAddress(email: string): boolean {
  return email.length <= 254 && /^[^\s\p{Cc}<>()[\]\\,;:@"]+@[^\s\p{Cc}<>()[\]\\,;:@"]+$/u.test(email)
}

/** Parses `Name <name@example.org>` or a plain address. Returns undefined if the text is neither. */
export function parseSender(text: string): Recipient | undefined {
  const [, name = '', bracketed, plain] = /^(?:([^<>\p{Cc}"]*)<([^<>]+)>|([^<>]+))$/u.exec(text.trim()) ?? []
  const email = bracketed ?? plain ?? ''
  return isPlainAddress(email) ? { email, name: name.trim() } : undefined
}
