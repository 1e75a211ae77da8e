import { Stack } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import type { FormEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { useSession } from '../api/session.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { FormButtons } from '../layout/form-buttons.tsx'
import { FormDialog } from '../layout/form-dialog.tsx'
import { listChanges } from '../layout/merge-changes.ts'
import { notifySuccess } from '../layout/notify.ts'
import { useMergedForm } from '../layout/use-merged-form.tsx'
import { toWebhookForm, WebhookFields } from './webhook-fields.tsx'

/** Changes the address and the events of a webhook. Changes of another person to other fields are kept. */
export function EditWebhook({ webhook, close }: { webhook: Schemas['Webhook']; close: () => void }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const path = { webhook_id: webhook.id }
  const { form, setForm, isChanged, merge, renderConflict } = useMergedForm(toWebhookForm(webhook))
  const saving = useMutation({
    async mutationFn({ overwrites }: { overwrites: boolean }) {
      const stored = toWebhookForm(await api.call('getWebhook', { path }))
      const merged = merge({ stored, overwrites })
      if (!merged) return false
      const changed = new Set(listChanges(merged, stored))
      const payload = { ...(changed.has('url') && { url: merged.url }), ...(changed.has('events') && { events: merged.events }) }
      if (changed.size > 0) await api.call('updateWebhook', { path, payload })
      return true
    },
    async onSuccess(isSaved) {
      if (!isSaved) return
      await queryClient.invalidateQueries({ queryKey: ['webhooks'] })
      notifySuccess(t('common.saved'))
      close()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    saving.mutate({ overwrites: false })
  }
  return (
    <FormDialog title={t('webhooks.editTitle')} isChanged={isChanged} close={close}>
      <form onSubmit={submit}>
        <Stack>
          <ErrorAlert error={saving.error} />
          {renderConflict({
            title: t('webhooks.conflict'),
            describe: (name, theirs) => ({ label: t(`webhooks.${name}`), value: [theirs[name]].flat().join(', ') }),
            isPending: saving.isPending,
            keepMine: () => saving.mutate({ overwrites: true }),
          })}
          <WebhookFields form={form} setForm={setForm} error={saving.error} urlHelp={t('webhooks.urlHelp')} />
          <FormButtons
            submitLabel={t('common.save')}
            isPending={saving.isPending}
            isDisabled={!isChanged || form.events.length === 0}
            close={close}
          />
        </Stack>
      </form>
    </FormDialog>
  )
}
