import { Button } from '@mantine/core'
import { IconRefresh } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { notifyError, notifySuccess } from '../layout/notify.ts'
import { canRetry, isActive, refreshJobs } from './job-state.ts'

/** Retries a job that failed, or cancels one that has not ended. */
export function JobButtons({ job, size }: { job: Pick<Schemas['ListedJob'], 'job_id' | 'state'>; size: 'xs' | 'sm' }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const path = { job_id: job.job_id }
  const retry = useMutation({
    mutationFn: () => api.call('retryJob', { path }),
    async onSuccess() {
      notifySuccess(t('job.retried'))
      await refreshJobs(queryClient)
    },
    onError: notifyError,
  })
  const cancel = async () => {
    await api.call('cancelJob', { path })
    await refreshJobs(queryClient)
  }
  if (canRetry(job)) {
    const icon = <IconRefresh size={16} aria-hidden="true" />
    return (
      <Button size={size} variant="default" leftSection={icon} loading={retry.isPending} onClick={() => retry.mutate()}>
        {t('job.retry')}
      </Button>
    )
  }
  return isActive(job) ? (
    <ConfirmButton size={size} title={t('job.cancelTitle')} text={t('job.cancelText')} confirm={t('job.cancel')} onConfirm={cancel}>
      {t('job.cancel')}
    </ConfirmButton>
  ) : null
}
