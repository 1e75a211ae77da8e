import { requireElement } from '../dom/require-element.ts'

/** Milliseconds between two announcements, so that screen readers finish the first one. */
const INTERVAL_MS = 1_500

let queue: { subject: string; text: string }[] = []
let timer: number | undefined

/**
 * Announces a text to screen readers when they are idle. A newer text about the same subject
 * replaces a waiting one.
 */
export function announce(subject: string, text: string): void {
  queue = [...queue.filter((waiting) => waiting.subject !== subject), { subject, text }]
  if (timer === undefined) announceNext()
}

function announceNext(): void {
  const next = queue.shift()
  timer = next === undefined ? undefined : window.setTimeout(announceNext, INTERVAL_MS)
  if (next) requireElement(document, '.announcer', HTMLElement).textContent = `${next.subject}: ${next.text}`
}
