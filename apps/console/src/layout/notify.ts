import type { NotificationData } from '@mantine/notifications'
import i18next from 'i18next'
import { isSignedOut, toMessage } from '../api/client.ts'

const listeners = new Set<() => void>()

/** Calls the listener before a message is shown. Returns a function that ends this. */
export function onNotification(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function notifySuccess(message: string): void {
  show({ message, color: 'teal', autoClose: 4_000 })
}

export function notifyWarning(message: string): void {
  show({ message, color: 'yellow', autoClose: 8_000 })
}

/** Shows an error. The end of the session is shown by the shell instead. */
export function notifyError(error: unknown): void {
  if (isSignedOut(error)) return
  show({ title: i18next.t('common.failed'), message: toMessage(error), color: 'red', autoClose: 10_000 })
}

/** The library is loaded for the first message. */
function show(data: NotificationData): void {
  for (const listener of listeners) listener()
  void import('@mantine/notifications').then(({ notifications }) => notifications.show(data))
}
