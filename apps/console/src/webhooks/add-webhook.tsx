import { Alert, Button, Modal, MultiSelect, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { CopyField } from '../layout/copy-field.tsx'
import { notifyError } from '../layout/notify.ts'
import { EVENTS } from './event-types.ts'

/** Form for a new webhook. Afterwards it shows the signing secret. */
export function AddWebhook({ close }: { close: () => void }) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const queryClient = useQueryClient()
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState<string[]>(['video.ready', 'video.failed'])
  const add = useMutation({
    mutationFn: () =>
      api.call('createWebhook', {
        payload: { url, organisation_id: organisationId, events: EVENTS.filter((event) => events.includes(event)) },
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['webhooks'] }),
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate()
  }
  const end = () => {
    add.reset()
    setUrl('')
    close()
  }
  return (
    <Modal opened onClose={end} title={t('webhooks.add')} centered closeButtonProps={{ 'aria-label': t('common.close') }}>
      {add.data ? (
        <Stack>
          <Alert color="orange">{t('webhooks.secretText')}</Alert>
          <CopyField label={t('webhooks.secret')} value={add.data.secret} />
          <Button onClick={end}>{t('common.close')}</Button>
        </Stack>
      ) : (
        <form onSubmit={submit}>
          <Stack>
            <TextInput
              label={t('webhooks.url')}
              placeholder="https://www.example.org/hooks"
              type="url"
              required
              data-autofocus
              value={url}
              error={fieldMessage(add.error, 'url')}
              onChange={(event) => setUrl(event.currentTarget.value)}
            />
            <MultiSelect
              label={t('webhooks.events')}
              data={[...EVENTS]}
              value={events}
              onChange={setEvents}
              error={fieldMessage(add.error, 'events')}
              searchable
            />
            <Button type="submit" loading={add.isPending} disabled={events.length === 0}>
              {t('webhooks.add')}
            </Button>
          </Stack>
        </form>
      )}
    </Modal>
  )
}
