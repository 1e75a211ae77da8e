import { Navigate } from '@tanstack/react-router'
import { useSessionQuery } from '../api/session.tsx'
import { LazySignInPage } from './lazy-sign-in-page.tsx'

/** Page for signing in at its own address. Without a session, all other addresses show it too. */
export function SignInRoute() {
  const session = useSessionQuery()
  return session.data ? <Navigate to="/videos" replace /> : <LazySignInPage />
}
