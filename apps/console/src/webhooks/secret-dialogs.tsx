import { Button, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { FormButtons } from '../layout/form-buttons.tsx'
import { formatDateTime } from '../layout/format.ts'
import { notifyError } from '../layout/notify.ts'
import { SecretDialog } from '../layout/secret-dialog.tsx'
import { useUnsavedChanges } from '../layout/unsaved-changes.tsx'
import { WebhookFields, type WebhookForm } from './webhook-fields.tsx'

/** The platform signs events with the old secret for this time. */
const OVERLAP_MS = 24 * 3_600_000

/** Form for a new webhook. Afterwards it shows the signing secret. */
export function AddWebhook({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const queryClient = useQueryClient()
  const [form, setForm] = useState<WebhookForm>({ url: '', events: ['video.ready', 'video.failed'] })
  const add = useMutation({
    mutationFn: () => api.call('createWebhook', { payload: { ...form, organisation_id: organisationId } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['webhooks'] }),
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate()
  }
  useUnsavedChanges(form.url !== '')
  return (
    <SecretDialog
      title={t('webhooks.add')}
      isPending={add.isPending}
      secret={
        add.data && {
          title: t('webhooks.add'),
          text: t('webhooks.secretText'),
          label: t('webhooks.secret'),
          value: add.data.secret,
        }
      }
      close={close}
    >
      <form onSubmit={submit}>
        <Stack>
          <WebhookFields form={form} setForm={setForm} error={add.error} />
          <Button type="submit" loading={add.isPending} disabled={form.events.length === 0}>
            {t('webhooks.add')}
          </Button>
        </Stack>
      </form>
    </SecretDialog>
  )
}

/** Creates a new secret for the signatures of a webhook. Afterwards it shows the secret. */
export function RotateSecret({ webhookId, close }: { webhookId: string; close: () => void }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const rotate = useMutation({
    async mutationFn() {
      const { secret } = await api.call('rotateWebhookSecret', { path: { webhook_id: webhookId } })
      return { secret, endOfOldSecret: Date.now() + OVERLAP_MS }
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    rotate.mutate()
  }
  const cancel = () => {
    // The response has the secret.
    if (!rotate.isPending) close()
  }
  return (
    <SecretDialog
      title={t('webhooks.rotate')}
      isPending={rotate.isPending}
      secret={
        rotate.data && {
          title: t('webhooks.rotate'),
          text: t('webhooks.rotatedText', { time: formatDateTime(rotate.data.endOfOldSecret) }),
          label: t('webhooks.secret'),
          value: rotate.data.secret,
        }
      }
      close={close}
    >
      <form onSubmit={submit}>
        <Stack>
          <ErrorAlert error={rotate.error} />
          <Text size="sm">{t('webhooks.rotateText')}</Text>
          <Text size="sm">{t('webhooks.rotateTwice')}</Text>
          <FormButtons submitLabel={t('webhooks.rotate')} isPending={rotate.isPending} close={cancel} />
        </Stack>
      </form>
    </SecretDialog>
  )
}
