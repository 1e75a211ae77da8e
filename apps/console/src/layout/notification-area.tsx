import { lazyRouteComponent } from '@tanstack/react-router'
import { Suspense, useEffect, useState } from 'react'
import { onNotification } from './notify.ts'

const Notifications = lazyRouteComponent(() => import('@mantine/notifications'), 'Notifications')

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
