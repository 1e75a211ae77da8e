import type { Recipient } from './success-message.ts'

/** One address and nothing that a header or an envelope could take for more. */
export function isPlainAddress(email: string): boolean {
  return email.length <= 254 && /^[^\s\p{Cc}<>()[\]\\,;:@"]+@[^\s\p{Cc}<>()[\]\\,;:@"]+$/u.test(email)
}

/** `Name <name@example.org>`, or the address alone; undefined for anything else. */
export function parseSender(text: string): Recipient | undefined {
  const [, name = '', inside, alone] = /^(?:([^<>\p{Cc}"]*)<([^<>]+)>|([^<>]+))$/u.exec(text.trim()) ?? []
  const email = inside ?? alone ?? ''
  return isPlainAddress(email) ? { email, name: name.trim() } : undefined
}
