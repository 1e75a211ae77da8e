import { Badge, Button, Select, Stack, Table, Text, Title } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { formatTime } from '../layout/format.ts'
import { ListTable } from '../layout/list-table.tsx'
import { notifyError } from '../layout/notify.ts'
import { PageHeader } from '../layout/page-header.tsx'
import { QueryState } from '../layout/query-state.tsx'
import { chooseLanguage, LANGUAGES, type Language } from '../translation/start-translation.ts'
import { describeBrowser } from './describe-browser.ts'
import { DetailsSection } from './details-section.tsx'
import { PasskeySection } from './passkey-section.tsx'
import { PasswordSection } from './password-section.tsx'

/** The user's own passkeys and sessions, and the language of the console. */
export function AccountPage() {
  const { t, i18n } = useTranslation()
  const { api, user } = useSession()
  const queryClient = useQueryClient()
  const sessions = useQuery({ queryKey: ['sessions'], queryFn: ({ signal }) => api.call('listOwnSessions', { signal }) })
  const end = useMutation({
    mutationFn: (user_session_id: string) => api.call('endOwnSession', { path: { user_session_id } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['sessions'] }),
    onError: notifyError,
  })
  return (
    <>
      <PageHeader title={t('account.title')} note={user.email} />
      <Stack gap="xl">
        <Select
          label={t('account.language')}
          data={Object.entries(LANGUAGES).map(([value, label]) => ({ value, label }))}
          value={i18n.language}
          allowDeselect={false}
          maw={260}
          onChange={(value) => value && void chooseLanguage(value as Language)}
        />
        <DetailsSection />
        <PasswordSection />
        <PasskeySection />
        <section>
          <Title order={2} size="h4">
            {t('account.sessions')}
          </Title>
          <Text size="sm" c="dimmed" mb="sm">
            {t('account.sessionsText')}
          </Text>
          <QueryState query={sessions}>
            {(list) => (
              <ListTable
                columns={[t('account.browser'), t('account.address'), t('account.lastUsed'), t('account.expires')]}
                hasActions
                minWidth={760}
              >
                {list.map(({ id, user_agent, address, last_used, time_created, expires, current }) => (
                  <Table.Tr key={id}>
                    <Table.Td title={user_agent}>
                      {describeBrowser(user_agent)} {current && <Badge color="teal">{t('account.current')}</Badge>}
                    </Table.Td>
                    <Table.Td>{address}</Table.Td>
                    <Table.Td className="no-wrap">{formatTime(last_used || time_created)}</Table.Td>
                    <Table.Td className="no-wrap">{formatTime(expires)}</Table.Td>
                    <Table.Td ta="right">
                      {!current && (
                        <Button
                          size="xs"
                          variant="light"
                          color="red"
                          loading={end.isPending && end.variables === id}
                          onClick={() => end.mutate(id)}
                        >
                          {t('account.end')}
                        </Button>
                      )}
                    </Table.Td>
                  </Table.Tr>
                ))}
              </ListTable>
            )}
          </QueryState>
        </section>
      </Stack>
    </>
  )
}
