import type { NotificationData } from '@mantine/notifications'
import i18next from 'i18next'
import { isSignedOut, toMessage } from '../api/client.ts'

const listeners = new Set<() => void>()

/** Calls the listener before each message is shown. Returns a function that removes the listener. */
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

/** Shows an error. If the session has ended, it shows nothing, because the frame of all pages then shows the sign-in page. */
export function notifyError(error: unknown): void {
  if (isSignedOut(error)) return
  show({ title: i18next.t('common.failed'), message: toMessage(error), color: 'red', autoClose: 10_000 })
}

/** Returns the library of messages. It is loaded by the first call. */
export function loadNotifications(): Promise<typeof import('@mantine/notifications')> {
  return import('@mantine/notifications')
}

function show(data: NotificationData & { message: string }): void {
  for (const listener of listeners) listener()
  const closeButtonProps = { 'aria-label': i18next.t('common.close') }
  loadNotifications().then(
    ({ notifications }) => {
      // A message is about the last action. Those of earlier actions would contradict it, and cover the page.
      notifications.clean()
      notifications.show({ ...data, closeButtonProps })
    },
    // The browser has lost the connection before the library was loaded.
    () => alert(data.message),
  )
}
