import { Button, Group, Table, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { formatTime } from '../layout/format.ts'
import { ListTable } from '../layout/list-table.tsx'
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
    <ListTable
      columns={[t('webhooks.time'), t('users.email'), t('common.name'), t('forms.company'), t('forms.consent')]}
      minWidth={560}
      maxHeight={360}
    >
      {list.map(({ submission_id, time_created, email, name, company_name, opt_in }) => (
        <Table.Tr key={submission_id}>
          <Table.Td className="no-wrap">{formatTime(time_created)}</Table.Td>
          <Table.Td>{email}</Table.Td>
          <Table.Td>{name}</Table.Td>
          <Table.Td>{company_name}</Table.Td>
          <Table.Td>{opt_in === '1' ? '✓' : ''}</Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
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
