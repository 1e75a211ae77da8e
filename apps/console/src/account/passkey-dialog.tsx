import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { FormDialog } from '../layout/form-dialog.tsx'

interface Props {
  title: string
  /** Label of the button. */
  submit: string
  /** Present name. Undefined for a new passkey. */
  name?: string
  save: (name: string) => Promise<unknown>
  onSaved: () => Promise<unknown>
  close: () => void
}

/** Dialog for the name of a passkey. */
export function PasskeyDialog({ title, submit, name: present, save, onSaved, close }: Props) {
  const { t } = useTranslation()
  const [name, setName] = useState(present ?? '')
  const store = useMutation({
    mutationFn: async () => {
      await save(name)
      await onSaved()
    },
    onSuccess: close,
  })
  const send = (event: FormEvent) => {
    event.preventDefault()
    store.mutate()
  }
  const nameError = fieldMessage(store.error, 'name')
  return (
    <FormDialog title={title} isChanged={name !== (present ?? '')} close={close}>
      <form onSubmit={send}>
        <Stack>
          <ErrorAlert error={nameError === undefined && store.error} />
          <TextInput
            label={t('common.name')}
            description={t('passkeys.nameHelp')}
            maxLength={100}
            required
            data-autofocus
            value={name}
            error={nameError}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          {present === undefined && <Text size="sm">{t('passkeys.createText')}</Text>}
          <Button type="submit" loading={store.isPending}>
            {submit}
          </Button>
        </Stack>
      </form>
    </FormDialog>
  )
}
