import { lazy, Suspense, useEffect, useState } from 'react'
import { onNotification } from './notify.ts'

const Notifications = lazy(() => import('@mantine/notifications').then(({ Notifications: component }) => ({ default: component })))

/** Shows messages in a corner of the page. */
export function NotificationArea() {
  const [isUsed, setUsed] = useState(false)
  useEffect(() => onNotification(() => setUsed(true)), [])
  return isUsed ? (
    <Suspense>
      <Notifications position="top-right" />
    </Suspense>
  ) : null
}
