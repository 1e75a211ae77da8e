import type { ComponentType, FunctionComponent } from 'react'
import { type Session, useSession } from '../api/session.tsx'
import { NotFoundMessage } from './error-page.tsx'

/** Returns a page that only some users may open. Others see that there is no such page. */
export function restrictPage(Page: ComponentType, isAllowed: (session: Session) => boolean): FunctionComponent {
  return function RestrictedPage() {
    return isAllowed(useSession()) ? <Page /> : <NotFoundMessage />
  }
}
