import { Button, Group } from '@mantine/core'
import { Link, Outlet, useRouterState } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { addEnglish } from '../translation/add-english.ts'
import { systemPageTexts } from '../translation/english/system-pages.ts'

addEnglish(systemPageTexts)

/** Frame of the pages about the whole platform. */
export function SystemFrame() {
  const { t } = useTranslation()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const pages = [
    { to: '/system/organisations', label: t('system.organisations') },
    { to: '/system/jobs', label: t('system.jobs') },
    { to: '/system/workers', label: t('system.workers') },
    { to: '/system/storage', label: t('system.storage') },
    { to: '/system/failovers', label: t('system.failovers') },
    { to: '/system/health', label: t('system.health') },
    { to: '/system/audit', label: t('system.audit') },
  ] as const
  return (
    <>
      <Group component="nav" aria-label={t('system.title')} gap={4} mb="lg">
        {pages.map(({ to, label }) => (
          <Button
            key={to}
            size="compact-md"
            variant={path.startsWith(to) ? 'light' : 'subtle'}
            color={path.startsWith(to) ? 'indigo' : 'gray'}
            aria-current={path.startsWith(to) ? 'page' : undefined}
            renderRoot={(props) => <Link to={to} {...props} />}
          >
            {label}
          </Button>
        ))}
      </Group>
      <Outlet />
    </>
  )
}
