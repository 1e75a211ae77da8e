import { Navigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useSessionQuery } from '../api/session.tsx'
import { LazySignInPage } from './lazy-sign-in-page.tsx'
import { readSignInLink } from './sign-in-address.ts'

/**
 * Page for signing in at its own address. Without a session, all other addresses show it too. With the link of a mail, it is
 * shown although a user has signed in, because the link may be that of another user.
 */
export function SignInRoute() {
  const session = useSessionQuery()
  const [hasLink] = useState(() => readSignInLink(location.hash) !== undefined)
  return session.data && !hasLink ? <Navigate to="/videos" replace /> : <LazySignInPage />
}
