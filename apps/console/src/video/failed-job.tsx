import { Alert, Anchor, Group, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { Schemas } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { JobButtons } from '../job/job-buttons.tsx'
import { isPlatformError } from '../job/job-state.ts'
import { valueLabel } from '../translation/value-label.ts'

type Job = Schemas['ListedJob']

/** Why a job of a video failed, and a button that retries it. */
export function FailedJob({
  job,
  error: { code, message },
  stillPlays,
}: {
  job: Job
  error: NonNullable<Job['error']>
  stillPlays: boolean
}) {
  const { t } = useTranslation()
  // English needs no text, because the message of the platform says more.
  const cause = valueLabel('jobCodes', String(code), '')
  return (
    <Alert color="red" icon={<IconAlertTriangle />} title={t(job.state === 'cancelled' ? 'job.cancelled' : 'job.failed')} mt="sm">
      <Stack gap="xs">
        {cause !== '' && <Text size="sm">{cause}</Text>}
        <Text size="sm" lang="en">
          {message}
        </Text>
        <Text size="sm">
          {t(isPlatformError({ code }) ? 'job.platformHint' : 'job.sourceHint')}
          {stillPlays && ` ${t('job.stillPlays')}`}
        </Text>
        <Group gap="md">
          <JobButtons job={job} size="sm" />
          <Text size="sm">
            {t('job.code', { code })} ·{' '}
            <Anchor size="sm" href="/docs/reference/error-codes#codes-of-jobs">
              {t('job.codes')}
            </Anchor>
          </Text>
        </Group>
      </Stack>
    </Alert>
  )
}
