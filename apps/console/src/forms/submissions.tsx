import { Alert, Button, Group, Table, Text } from '@mantine/core'
import { IconDownload } from '@tabler/icons-react'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { memo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { formatNumber, formatTime } from '../layout/format.ts'
import { lazyPart } from '../layout/lazy-part.tsx'
import { ListTable } from '../layout/list-table.tsx'
import { QueryState } from '../layout/query-state.tsx'
import { downloadCsv } from './csv.ts'

/** The dialog is loaded when it is opened. */
const ConfirmDialog = lazyPart(() => import('../layout/confirm-dialog.tsx').then(({ ConfirmDialog }) => ConfirmDialog))

/** Submissions that are shown and exported. The API has all of them. */
const MAX_SUBMISSIONS = 10_000

/** What viewers have submitted with a form, its deletion and its export. */
export function Submissions({ formId }: { formId: string }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  /** The submission whose deletion is being confirmed. */
  const [selected, select] = useState<Submission>()
  const submissions = useQuery({
    queryKey: ['submissions', formId],
    queryFn: ({ signal }) => api.list('listContactFormSubmissions', { path: { contact_form_id: formId }, signal }).toArray(MAX_SUBMISSIONS),
  })
  const remove = async ({ submission_id }: Submission) => {
    await api.call('deleteContactFormSubmission', { path: { contact_form_id: formId, submission_id } })
    await queryClient.invalidateQueries({ queryKey: ['submissions', formId] })
  }
  return (
    <QueryState query={submissions}>
      {(list) =>
        list.length === 0 ? (
          <Text size="sm" c="dimmed" mt="md">
            {t('forms.noSubmissions')}
          </Text>
        ) : (
          <>
            <SubmissionTable list={list} select={select} />
            {selected && (
              <ConfirmDialog
                title={t('forms.deleteSubmissionTitle', { email: selected.email })}
                text={t('forms.deleteSubmissionText')}
                confirm={t('common.delete')}
                onConfirm={() => remove(selected)}
                close={() => select(undefined)}
              />
            )}
            {list.length === MAX_SUBMISSIONS && (
              <Alert color="orange" mb="sm">
                {t('forms.oldestOnly', { max: formatNumber(MAX_SUBMISSIONS) })}
              </Alert>
            )}
            <Group>
              <Button
                size="xs"
                variant="default"
                leftSection={<IconDownload size={16} aria-hidden="true" />}
                onClick={() => downloadCsv(`form-${formId}.csv`, toRows(list))}
              >
                {t('common.export')}
              </Button>
            </Group>
          </>
        )
      }
    </QueryState>
  )
}

type Submission = Schemas['Submission']

interface TableProps {
  list: readonly Submission[]
  /** Confirms the deletion of a submission. */
  select: (submission: Submission) => void
}

/** The table may be long. It is not rendered again when a dialog is opened. */
const SubmissionTable = memo(function SubmissionTable({ list, select }: TableProps) {
  const { t } = useTranslation()
  return (
    <ListTable
      columns={[t('common.time'), t('users.email'), t('common.name'), t('forms.company'), t('forms.consent')]}
      hasActions
      minWidth={560}
      maxHeight={360}
    >
      {list.map((submission) => (
        <Table.Tr key={submission.submission_id}>
          <Table.Td className="no-wrap">{formatTime(submission.time_created)}</Table.Td>
          <Table.Td>{submission.email}</Table.Td>
          <Table.Td>{submission.name}</Table.Td>
          <Table.Td>{submission.company_name}</Table.Td>
          <Table.Td>{submission.opt_in === '1' ? '✓' : ''}</Table.Td>
          <Table.Td ta="right">
            <Button
              size="compact-xs"
              variant="light"
              color="red"
              aria-label={t('forms.deleteSubmission', { email: submission.email })}
              onClick={() => select(submission)}
            >
              {t('common.delete')}
            </Button>
          </Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  )
})

function toRows(list: readonly Submission[]): string[][] {
  const header = ['time_utc', 'email', 'name', 'company', 'consent', 'video_id']
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
