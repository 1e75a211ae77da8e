import { Button, Select, Stack, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { notifyError } from '../layout/notify.ts'
import { SecretDialog } from '../layout/secret-dialog.tsx'
import { useUnsavedChanges } from '../layout/unsaved-changes.tsx'
import { ExpiryInput, toExpiryDate } from './expiry-input.tsx'

const MAX_NAME_LENGTH = 255
const PRESETS = ['admin', 'upload', 'playback', 'read'] as const

/** Form for a new key of a user. Afterwards it shows the key. */
export function AddKey({ owner, close }: { owner: string; close: () => void }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const [preset, setPreset] = useState<(typeof PRESETS)[number]>('upload')
  const [expires, setExpires] = useState('')
  const add = useMutation({
    mutationFn: () =>
      api.call('createApiKey', {
        path: { user_id: owner },
        payload: { application_name: name, preset, ...toExpiryDate(expires) },
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['keys'] }),
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    add.mutate()
  }
  useUnsavedChanges(name !== '' || expires !== '')
  const created = add.data
  return (
    <SecretDialog
      title={t('keys.add')}
      isPending={add.isPending}
      secret={created && { title: t('keys.new'), text: t('keys.newText'), label: created.application_name, value: created.key }}
      close={close}
    >
      <form onSubmit={submit}>
        <Stack>
          <TextInput
            label={t('common.name')}
            required
            data-autofocus
            maxLength={MAX_NAME_LENGTH}
            value={name}
            error={fieldMessage(add.error, 'application_name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Select
            label={t('keys.preset')}
            data={PRESETS.map((value) => ({ value, label: t(`keys.presets.${value}`) }))}
            value={preset}
            allowDeselect={false}
            onChange={(value) => setPreset(PRESETS.find((other) => other === value) ?? 'upload')}
          />
          <ExpiryInput value={expires} onChange={setExpires} error={fieldMessage(add.error, 'expiry_date')} />
          <Button type="submit" loading={add.isPending}>
            {t('keys.add')}
          </Button>
        </Stack>
      </form>
    </SecretDialog>
  )
}
