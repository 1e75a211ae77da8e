import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { ErrorPage, NotFoundPage } from './layout/error-page.tsx'
import { SignedInShell } from './layout/signed-in-shell.tsx'
import { readLibrarySearch } from './library/library-search.ts'
import { SignInRoute } from './sign-in/sign-in-route.tsx'
import { readVideoSearch } from './video/video-search.ts'

const rootRoute = createRootRoute({ notFoundComponent: NotFoundPage, errorComponent: ErrorPage })

const signInRoute = createRoute({ getParentRoute: () => rootRoute, path: '/sign-in', component: SignInRoute })

const shellRoute = createRoute({ getParentRoute: () => rootRoute, id: 'shell', component: SignedInShell })

const homeRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/videos' })
  },
})

const libraryRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/videos',
  validateSearch: readLibrarySearch,
  component: lazyRouteComponent(() => import('./library/library-page.tsx'), 'LibraryPage'),
})

const videoRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/videos/$videoId',
  validateSearch: readVideoSearch,
  component: lazyRouteComponent(() => import('./video/video-page.tsx'), 'VideoPage'),
})

const playlistsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playlists',
  component: lazyRouteComponent(() => import('./playlists/playlists-page.tsx'), 'PlaylistsPage'),
})

const playlistRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playlists/$playlistId',
  component: lazyRouteComponent(() => import('./playlists/playlist-page.tsx'), 'PlaylistPage'),
})

const analyticsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/analytics',
  component: lazyRouteComponent(() => import('./analytics/analytics-page.tsx'), 'AnalyticsPage'),
})

const webhooksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./webhooks/webhooks-page.tsx'), 'WebhooksPage'),
})

const formsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/forms',
  component: lazyRouteComponent(() => import('./forms/forms-page.tsx'), 'FormsPage'),
})

const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  component: lazyRouteComponent(() => import('./audit/audit-page.tsx'), 'AuditPage'),
})

const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  component: lazyRouteComponent(() => import('./keys/keys-page.tsx'), 'KeysPage'),
})

const usersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/users',
  component: lazyRouteComponent(() => import('./people/users-page.tsx'), 'UsersPage'),
})

const accountRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/account',
  component: lazyRouteComponent(() => import('./account/account-page.tsx'), 'AccountPage'),
})

const pages = [
  ...[homeRoute, libraryRoute, videoRoute, playlistsRoute, playlistRoute],
  ...[analyticsRoute, formsRoute, auditRoute, webhooksRoute, keysRoute, usersRoute, accountRoute],
] as const

export const router = createRouter({
  routeTree: rootRoute.addChildren([signInRoute, shellRoute.addChildren(pages)]),
  basepath: '/console',
  scrollRestoration: true,
  defaultPreload: 'intent',
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
