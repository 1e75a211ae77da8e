import { Button, Group, Table, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { formatTime } from '../layout/format.ts'
import { QueryState } from '../layout/query-state.tsx'
import { downloadCsv } from './csv.ts'

/** Submissions that are shown and exported. The API has all of them. */
const MAX_SUBMISSIONS = 10_000

/** What viewers have submitted with a form, and its export. */
export function Submissions({ formId }: { formId: string }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const submissions = useQuery({
    queryKey: ['submissions', formId],
    queryFn: ({ signal }) => api.list('listContactFormSubmissions', { path: { contact_form_id: formId }, signal }).toArray(MAX_SUBMISSIONS),
  })
  return (
    <QueryState query={submissions}>
      {(list) =>
        list.length === 0 ? (
          <Text size="sm" c="dimmed" mt="md">
            {t('forms.noSubmissions')}
          </Text>
        ) : (
          <>
            <SubmissionTable list={list} />
            <Group>
              <Button
                size="xs"
                variant="default"
                leftSection={<IconDownload size={16} aria-hidden="true" />}
                onClick={() => downloadCsv(`form-${formId}.csv`, toRows(list))}
              >
                {t('analytics.export')}
              </Button>
            </Group>
          </>
        )
      }
    </QueryState>
  )
}

type Submission = Schemas['Submission']

function SubmissionTable({ list }: { list: readonly Submission[] }) {
  const { t } = useTranslation()
  return (
    <Table.ScrollContainer minWidth={560} maxHeight={360} mt="sm">
      <Table stickyHeader>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('webhooks.time')}</Table.Th>
            <Table.Th>{t('users.email')}</Table.Th>
            <Table.Th>{t('common.name')}</Table.Th>
            <Table.Th>{t('forms.company')}</Table.Th>
            <Table.Th>{t('forms.consent')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {list.map(({ submission_id, time_created, email, name, company_name, opt_in }) => (
            <Table.Tr key={submission_id}>
              <Table.Td className="no-wrap">{formatTime(time_created)}</Table.Td>
              <Table.Td>{email}</Table.Td>
              <Table.Td>{name}</Table.Td>
              <Table.Td>{company_name}</Table.Td>
              <Table.Td>{opt_in === '1' ? '✓' : ''}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function toRows(list: readonly Submission[]): string[][] {
  const header = ['time', 'email', 'name', 'company', 'consent', 'video_id']
  return [
    header,
    ...list.map(({ time_created, email, name, company_name, opt_in, video_id }) => [
      time_created,
      email,
      name,
      company_name,
      opt_in,
      video_id,
    ]),
  ]
}
