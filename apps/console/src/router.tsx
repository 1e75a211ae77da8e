import { createRootRoute, createRoute, createRouter, redirect } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { ErrorPage, NotFoundPage } from './layout/error-page.tsx'
import { lazyPart } from './layout/lazy-part.tsx'
import { LoadingState } from './layout/query-state.tsx'
import { restrictPage } from './layout/restrict-page.tsx'
import { SignedInShell } from './layout/signed-in-shell.tsx'
import { readLibrarySearch } from './library/library-search.ts'
import { SignInRoute } from './sign-in/sign-in-route.tsx'
import { readVideoSearch } from './video/video-search.ts'

const lazyPage = <Props extends object>(load: () => Promise<ComponentType<Props>>) => lazyPart(load, { Loading: LoadingState })

/** Page for users who manage their organisation. */
const managerPage = (load: () => Promise<ComponentType>) => restrictPage(lazyPage(load), ({ mayManageUsers }) => mayManageUsers)

/** Page for system users. */
const systemPage = (load: () => Promise<ComponentType>) => restrictPage(lazyPage(load), ({ isSystem }) => isSystem)

const rootRoute = createRootRoute({ notFoundComponent: NotFoundPage, errorComponent: ErrorPage })

const signInRoute = createRoute({ getParentRoute: () => rootRoute, path: '/sign-in', component: SignInRoute })

const guestReviewRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/review',
  component: lazyPage(() => import('./review/guest-review-page.tsx').then(({ GuestReviewPage }) => GuestReviewPage)),
})

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
  component: lazyPage(() => import('./library/library-page.tsx').then(({ LibraryPage }) => LibraryPage)),
})

const videoRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/videos/$videoId',
  validateSearch: readVideoSearch,
  component: lazyPage(() => import('./video/video-page.tsx').then(({ VideoPage }) => VideoPage)),
})

const playlistsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playlists',
  component: lazyPage(() => import('./playlists/playlists-page.tsx').then(({ PlaylistsPage }) => PlaylistsPage)),
})

const playlistRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/playlists/$playlistId',
  component: lazyPage(() => import('./playlists/playlist-page.tsx').then(({ PlaylistPage }) => PlaylistPage)),
})

const profilesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/profiles',
  component: lazyPage(() => import('./profiles/profiles-page.tsx').then(({ ProfilesPage }) => ProfilesPage)),
})

const analyticsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/analytics',
  component: lazyPage(() => import('./analytics/analytics-page.tsx').then(({ AnalyticsPage }) => AnalyticsPage)),
})

const webhooksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/webhooks',
  component: managerPage(() => import('./webhooks/webhooks-page.tsx').then(({ WebhooksPage }) => WebhooksPage)),
})

const formsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/forms',
  component: lazyPage(() => import('./forms/forms-page.tsx').then(({ FormsPage }) => FormsPage)),
})

const auditRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/audit',
  component: managerPage(() => import('./audit/audit-page.tsx').then(({ AuditPage }) => AuditPage)),
})

const keysRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/keys',
  component: systemPage(() => import('./keys/keys-page.tsx').then(({ KeysPage }) => KeysPage)),
})

const usersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/users',
  component: managerPage(() => import('./people/users-page.tsx').then(({ UsersPage }) => UsersPage)),
})

const organisationRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/organisation',
  component: managerPage(() => import('./organisation/organisation-page.tsx').then(({ OrganisationPage }) => OrganisationPage)),
})

const systemRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/system',
  component: systemPage(() => import('./system/system-frame.tsx').then(({ SystemFrame }) => SystemFrame)),
})

const systemPages = [
  createRoute({
    getParentRoute: () => systemRoute,
    path: '/',
    beforeLoad: () => {
      throw redirect({ to: '/system/organisations' })
    },
  }),
  createRoute({
    getParentRoute: () => systemRoute,
    path: '/organisations',
    component: lazyPage(() => import('./system/organisations-page.tsx').then(({ OrganisationsPage }) => OrganisationsPage)),
  }),
  createRoute({
    getParentRoute: () => systemRoute,
    path: '/jobs',
    component: lazyPage(() => import('./system/jobs-page.tsx').then(({ JobsPage }) => JobsPage)),
  }),
  createRoute({
    getParentRoute: () => systemRoute,
    path: '/workers',
    component: lazyPage(() => import('./system/workers-page.tsx').then(({ WorkersPage }) => WorkersPage)),
  }),
  createRoute({
    getParentRoute: () => systemRoute,
    path: '/storage',
    component: lazyPage(() => import('./system/storage-page.tsx').then(({ StoragePage }) => StoragePage)),
  }),
  createRoute({
    getParentRoute: () => systemRoute,
    path: '/failovers',
    component: lazyPage(() => import('./system/failovers-page.tsx').then(({ FailoversPage }) => FailoversPage)),
  }),
  createRoute({
    getParentRoute: () => systemRoute,
    path: '/health',
    component: lazyPage(() => import('./system/health-page.tsx').then(({ HealthPage }) => HealthPage)),
  }),
  createRoute({
    getParentRoute: () => systemRoute,
    path: '/audit',
    component: lazyPage(() => import('./system/system-audit-page.tsx').then(({ SystemAuditPage }) => SystemAuditPage)),
  }),
] as const

const accountRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/account',
  component: lazyPage(() => import('./account/account-page.tsx').then(({ AccountPage }) => AccountPage)),
})

const pages = [
  ...[homeRoute, libraryRoute, videoRoute, playlistsRoute, playlistRoute, profilesRoute],
  ...[analyticsRoute, formsRoute, auditRoute, webhooksRoute, keysRoute, usersRoute, accountRoute],
  ...[organisationRoute, systemRoute.addChildren(systemPages)],
] as const

export const router = createRouter({
  routeTree: rootRoute.addChildren([signInRoute, guestReviewRoute, shellRoute.addChildren(pages)]),
  basepath: '/console',
  scrollRestoration: true,
  defaultPreload: 'intent',
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
