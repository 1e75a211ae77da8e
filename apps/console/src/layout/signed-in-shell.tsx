import {
  ActionIcon,
  AppShell,
  Burger,
  Center,
  Group,
  Loader,
  NavLink,
  ScrollArea,
  Select,
  useComputedColorScheme,
  useMantineColorScheme,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import {
  IconBook2,
  IconBuilding,
  IconChartBar,
  IconForms,
  IconHistory,
  IconKey,
  IconLogout,
  IconMoon,
  IconPalette,
  IconPlaylist,
  IconServer2,
  IconSun,
  IconUserCircle,
  IconUsers,
  IconVideo,
  IconWebhook,
} from '@tabler/icons-react'
import { useQueryClient } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { useCallback, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { guestClient, isSignedOut } from '../api/client.ts'
import { MAX_OPTIONS } from '../api/max-records.ts'
import { onSessionEnd } from '../api/query-client.ts'
import { SessionProvider, storeSession, useSession, useSessionOfOtherTabs, useSessionQuery } from '../api/session.tsx'
import icon from '../icon.svg'
import { useOrganisationNames } from '../organisation/use-organisation-names.ts'
import { LazySignInPage } from '../sign-in/lazy-sign-in-page.tsx'
import { hasStoredUploads } from '../upload/stored-uploads.ts'
import { UploadProvider, useUploads } from '../upload/upload-provider.tsx'
import { lazyPart } from './lazy-part.tsx'
import { notifyError } from './notify.ts'
import { OutageAlert } from './outage-alert.tsx'
import { FailedState } from './query-state.tsx'
import { LeaveGuard, useMayLeave } from './unsaved-changes.tsx'

/** Frame of all pages for users who have signed in. Others sign in at the same address. */
export function SignedInShell() {
  const session = useSessionQuery()
  const { t } = useTranslation()
  if (session.isError) return <FailedState error={session.error} retry={() => void session.refetch()} />
  if (session.data === null) return <LazySignInPage />
  if (session.data === undefined) {
    return (
      <>
        <OutageAlert />
        <Center h="100vh" role="status" aria-label={t('common.loading')}>
          <Loader />
        </Center>
      </>
    )
  }
  return (
    <SessionProvider user={session.data.user} key={session.data.user.user_id}>
      <UploadProvider>
        <LeaveGuard>
          <Shell />
        </LeaveGuard>
      </UploadProvider>
    </SessionProvider>
  )
}

function Shell() {
  const { t } = useTranslation()
  const [opened, { toggle, close }] = useDisclosure(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  useEffect(close, [path])
  return (
    <AppShell
      header={{ height: 56, collapsed: false }}
      navbar={{ width: 232, breakpoint: 'sm', collapsed: { mobile: !opened } }}
      padding={{ base: 'md', md: 'xl' }}
    >
      <a href="#content" className="skip-link">
        {t('navigation.skip')}
      </a>
      <AppShell.Header className="shell-header">
        <Group h="100%" px="md" justify="space-between" wrap="nowrap">
          <Group gap="sm" wrap="nowrap">
            <Burger opened={opened} onClick={toggle} hiddenFrom="sm" size="sm" aria-label={t('navigation.open')} aria-expanded={opened} />
            <Link to="/videos" className="brand">
              <img src={icon} alt="" width={26} height={26} />
              Vitascope
            </Link>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <OrganisationSelect />
            <ColourButton />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label={t('navigation.main')}>
        <Navigation />
      </AppShell.Navbar>
      <AppShell.Main id="content" tabIndex={-1}>
        <OutageAlert />
        <Outlet />
      </AppShell.Main>
      <Uploads />
      <SessionEnd />
    </AppShell>
  )
}

/** The list is loaded when there are uploads. */
const UploadList = lazyPart(() => import('../upload/upload-list.tsx').then(({ UploadList }) => UploadList))

function Uploads() {
  const { items } = useUploads()
  const [hasStored] = useState(hasStoredUploads)
  return hasStored || items.length > 0 ? <UploadList /> : null
}

function Navigation() {
  const { t } = useTranslation()
  const { user, mayManageUsers, isSystem } = useSession()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const queryClient = useQueryClient()
  const mayLeave = useMayLeave()
  const signOut = async () => {
    if (!mayLeave()) return
    try {
      await guestClient.call('signOut')
    } catch (error) {
      // A session that has ended requires no sign-out.
      if (!isSignedOut(error)) return notifyError(error)
    }
    storeSession(queryClient, null)
  }
  const items = [
    { to: '/videos', label: t('navigation.videos'), icon: IconVideo, isShown: true },
    { to: '/playlists', label: t('navigation.playlists'), icon: IconPlaylist, isShown: true },
    { to: '/profiles', label: t('navigation.profiles'), icon: IconPalette, isShown: true },
    { to: '/analytics', label: t('navigation.analytics'), icon: IconChartBar, isShown: true },
    { to: '/forms', label: t('navigation.forms'), icon: IconForms, isShown: true },
    { to: '/webhooks', label: t('navigation.webhooks'), icon: IconWebhook, isShown: mayManageUsers },
    { to: '/keys', label: t('navigation.keys'), icon: IconKey, isShown: isSystem },
    { to: '/users', label: t('navigation.users'), icon: IconUsers, isShown: mayManageUsers },
    { to: '/audit', label: t('navigation.audit'), icon: IconHistory, isShown: mayManageUsers },
    { to: '/organisation', label: t('navigation.organisationPage'), icon: IconBuilding, isShown: mayManageUsers },
    { to: '/system', label: t('navigation.system'), icon: IconServer2, isShown: isSystem },
  ] as const
  return (
    <>
      <AppShell.Section grow component={ScrollArea}>
        {items
          .filter(({ isShown }) => isShown)
          .map(({ to, label, icon: Icon }) => (
            <NavLink
              key={to}
              label={label}
              leftSection={<Icon size={20} stroke={1.6} aria-hidden="true" />}
              active={path.startsWith(to)}
              aria-current={path.startsWith(to) ? 'page' : undefined}
              className="navigation-link"
              renderRoot={(props) => <Link to={to} {...props} />}
            />
          ))}
      </AppShell.Section>
      <AppShell.Section>
        <NavLink
          label={t('navigation.documentation')}
          href="/docs"
          className="navigation-link"
          leftSection={<IconBook2 size={20} stroke={1.6} aria-hidden="true" />}
        />
        <NavLink
          label={`${user.first_name} ${user.last_name}`.trim() || user.email}
          description={t('navigation.account')}
          leftSection={<IconUserCircle size={20} stroke={1.6} aria-hidden="true" />}
          active={path === '/account'}
          className="navigation-link"
          renderRoot={(props) => <Link to="/account" {...props} />}
        />
        <NavLink
          component="button"
          label={t('navigation.signOut')}
          leftSection={<IconLogout size={20} stroke={1.6} aria-hidden="true" />}
          className="navigation-link"
          onClick={() => void signOut()}
        />
      </AppShell.Section>
    </>
  )
}

function ColourButton() {
  const { t } = useTranslation()
  const { setColorScheme } = useMantineColorScheme()
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={t('navigation.colours')}
      onClick={() => setColorScheme(scheme === 'light' ? 'dark' : 'light')}
    >
      {scheme === 'light' ? <IconMoon size={20} /> : <IconSun size={20} />}
    </ActionIcon>
  )
}

/** System users see the content of the organisation that they select. */
function OrganisationSelect() {
  const { t } = useTranslation()
  const { isSystem, organisationId, selectOrganisation } = useSession()
  const mayLeave = useMayLeave()
  const navigate = useNavigate()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const names = useOrganisationNames({ enabled: isSystem })
  const organisations = Object.entries(names.data ?? {})
  const isListed = names.data?.[organisationId] !== undefined
  if (!names.data || (organisations.length < 2 && isListed)) return null
  const select = async (id: string | null) => {
    if (id === null || id === organisationId || !mayLeave()) return
    // The video, the playlist and the filters of this page are those of the organisation before.
    const list = (['/videos', '/playlists'] as const).find((to) => path.startsWith(to))
    if (list) await navigate({ to: list, search: {}, ignoreBlocker: true })
    selectOrganisation(id)
  }
  return (
    <Select
      aria-label={t('navigation.organisation')}
      data={[
        ...organisations.map(([value, label]) => ({ value, label })),
        // An inactive organisation has no name here.
        ...(isListed ? [] : [{ value: organisationId, label: t('navigation.organisationId', { id: organisationId }) }]),
      ]}
      value={organisationId}
      onChange={(id) => void select(id)}
      allowDeselect={false}
      searchable
      limit={MAX_OPTIONS}
      w={{ base: 108, sm: 220 }}
    />
  )
}

/** The dialog is loaded when the session ends. */
const SessionEndDialog = lazyPart(() => import('./session-end-dialog.tsx').then(({ SessionEndDialog }) => SessionEndDialog))

/** When the session ends or becomes that of another user, the user signs in over the page, so that nothing typed is lost. */
function SessionEnd() {
  const { user } = useSession()
  const [hasEnded, setEnded] = useState(false)
  const end = useCallback(() => setEnded(true), [])
  useEffect(() => onSessionEnd(end), [end])
  useSessionOfOtherTabs(user.user_id, end)
  return hasEnded ? <SessionEndDialog onSignedIn={() => setEnded(false)} /> : null
}
