import { lazyRouteComponent } from '@tanstack/react-router'
import { Suspense } from 'react'
import { LoadingState } from '../layout/query-state.tsx'

const SignInPage = lazyRouteComponent(() => import('./sign-in-page.tsx'), 'SignInPage')

/** The page for signing in. Users with a session do not load it. */
export function LazySignInPage() {
  return (
    <Suspense fallback={<LoadingState />}>
      <SignInPage />
    </Suspense>
  )
}
