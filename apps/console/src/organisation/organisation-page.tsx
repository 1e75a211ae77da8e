import { Anchor, Paper, SimpleGrid, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { PageHeader } from '../layout/page-header.tsx'
import { QueryState } from '../layout/query-state.tsx'
import { UsageBars } from '../quota/usage-bars.tsx'
import { useUsage } from '../quota/use-usage.ts'
import { DefaultPlayer } from './default-player.tsx'
import { PublicPage } from './public-page.tsx'

/** Usage, quota and playback rules of the organisation. */
export function OrganisationPage() {
  const { t } = useTranslation()
  const { isSystem } = useSession()
  const usage = useUsage()
  return (
    <QueryState query={usage}>
      {(record) => (
        <>
          <PageHeader title={record.name} note={`${t('organisation.title')} · ${t('organisation.id')} ${record.organisation_id}`} />
          <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="lg">
            <Paper withBorder p="lg" component="section" aria-labelledby="usage-heading">
              <Title order={2} size="h4" id="usage-heading">
                {t('organisation.usage')}
              </Title>
              <Text size="sm" c="dimmed" mb="lg">
                {t('organisation.usageText')}
              </Text>
              <UsageBars record={record} />
              <Text size="sm" mt="lg">
                <Anchor size="sm" underline="always" href="/docs/guides/manage-quotas">
                  {t('organisation.explain')}
                </Anchor>
                {!isSystem && ` · ${t('organisation.change')}`}
              </Text>
            </Paper>
            <PlaybackRules />
            <PublicPage record={record} />
            {isSystem && <DefaultPlayer />}
          </SimpleGrid>
        </>
      )}
    </QueryState>
  )
}

/** The rules that decide who may watch the videos of the organisation. */
function PlaybackRules() {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const rules = useQuery({
    queryKey: ['organisation rules', organisationId],
    queryFn: ({ signal }) => api.call('getOrganisationPlaybackRules', { path: { organisation_id: organisationId }, signal }),
  })
  return (
    <Paper withBorder p="lg" component="section" aria-labelledby="rules-heading">
      <Title order={2} size="h4" id="rules-heading" mb="sm">
        {t('organisation.rules')}
      </Title>
      <QueryState query={rules}>
        {({ rules: list }) => (
          <>
            <Text size="sm">{list.length === 0 ? t('organisation.rulesNone') : t('organisation.rulesText', { count: list.length })}</Text>
            <ol>
              {list.map(({ name }, index) => (
                <li key={index}>{name || '–'}</li>
              ))}
            </ol>
            <Anchor size="sm" href="/docs/guides/protect-videos">
              {t('organisation.rulesExplain')}
            </Anchor>
          </>
        )}
      </QueryState>
    </Paper>
  )
}
