import { type ComponentType, useEffect, useState } from 'react'
import { loadNotifications, onNotification } from './notify.ts'

/** Width in pixels. With the margin on its left it fits into the navigation, which has 232. */
const WIDTH = 216

/** Shows messages at the bottom of the navigation, where they cover no buttons of the page. */
export function NotificationArea() {
  const [Area, setArea] = useState<ComponentType<{ position: 'bottom-left'; containerWidth: number }>>()
  useEffect(() => {
    // `notify.ts` reports a failure with the message that it could not show.
    const load = () =>
      void loadNotifications().then(
        ({ Notifications }) => setArea(() => Notifications),
        () => undefined,
      )
    const stop = onNotification(load)
    // The code is loaded with the first use of the page, so that errors can be shown while the browser is offline.
    for (const event of ['pointerdown', 'keydown']) addEventListener(event, load, { once: true })
    return () => {
      stop()
      for (const event of ['pointerdown', 'keydown']) removeEventListener(event, load)
    }
  }, [])
  return Area ? <Area position="bottom-left" containerWidth={WIDTH} /> : null
}
