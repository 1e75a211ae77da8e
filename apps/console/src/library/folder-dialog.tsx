import { Autocomplete, Button, Stack } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { MAX_OPTIONS } from '../api/max-records.ts'
import { useSession } from '../api/session.tsx'
import { FormDialog } from '../layout/form-dialog.tsx'
import { notifyError } from '../layout/notify.ts'
import { useFolders } from './use-folders.ts'

/** Selects a folder by its name, or creates one. Calls `onFolder` with its id. */
export function FolderDialog({ close, onFolder }: { close: () => void; onFolder: (folderId: string) => void }) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const queryClient = useQueryClient()
  const [name, setName] = useState('')
  const folders = useFolders()
  const known = folders.data ?? []
  const select = useMutation({
    mutationFn: async () => {
      const found = known.find((folder) => folder.name === name.trim())
      if (found) return found.id
      const { id } = await api.call('createFolder', { payload: { name: name.trim(), organisation_id: organisationId } })
      await queryClient.invalidateQueries({ queryKey: ['folders'] })
      return id
    },
    onSuccess(id) {
      close()
      onFolder(id)
    },
    onError: notifyError,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    select.mutate()
  }
  return (
    <FormDialog title={t('library.addToFolder')} isChanged={name !== ''} close={close}>
      <form onSubmit={submit}>
        <Stack>
          <Autocomplete
            label={t('library.folderName')}
            description={t('library.folderHelp')}
            data={[...new Set(known.map((folder) => folder.name))]}
            limit={MAX_OPTIONS}
            required
            data-autofocus
            maxLength={255}
            value={name}
            error={fieldMessage(select.error, 'name')}
            onChange={setName}
          />
          <Button type="submit" loading={select.isPending} disabled={folders.isPending}>
            {t('library.addToFolder')}
          </Button>
        </Stack>
      </form>
    </FormDialog>
  )
}
