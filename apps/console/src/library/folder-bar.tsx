import { Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconFolder } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { ConfirmButton } from '../layout/confirm-button.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { FormButtons } from '../layout/form-buttons.tsx'
import { FormDialog } from '../layout/form-dialog.tsx'
import { notifySuccess } from '../layout/notify.ts'
import { addEnglish } from '../translation/add-english.ts'
import { folderTexts } from '../translation/english/folders.ts'
import { useFolders } from './use-folders.ts'

addEnglish(folderTexts)

const MAX_NAME_LENGTH = 255

/** Renames or deletes the folder whose videos are shown. `leave` shows the videos of all folders. */
export function FolderBar({ folderId, leave }: { folderId: string; leave: () => void }) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const queryClient = useQueryClient()
  const [isRenaming, { open, close }] = useDisclosure(false)
  const folders = useFolders()
  const name = folders.data?.find(({ id }) => id === folderId)?.name
  // The folder was deleted, or belongs to another organisation.
  if (name === undefined) return null
  const remove = async () => {
    await api.call('deleteFolder', { path: { folder_id: folderId, organisation_id: organisationId } })
    leave()
    await queryClient.invalidateQueries({ queryKey: ['folders'] })
    notifySuccess(t('folders.deleted'))
  }
  return (
    <Group component="section" gap="sm" mb="md" aria-label={t('folders.folder', { name })}>
      <IconFolder size={20} aria-hidden="true" />
      <Text fw={600} className="page-title">
        {name}
      </Text>
      <Button size="xs" variant="default" onClick={open}>
        {t('folders.rename')}
      </Button>
      <ConfirmButton
        size="xs"
        title={t('folders.deleteTitle', { name })}
        text={t('folders.deleteText')}
        confirm={t('common.delete')}
        onConfirm={remove}
      >
        {t('folders.delete')}
      </ConfirmButton>
      {isRenaming && <RenameFolder folderId={folderId} stored={name} close={close} />}
    </Group>
  )
}

function RenameFolder({ folderId, stored, close }: { folderId: string; stored: string; close: () => void }) {
  const { t } = useTranslation()
  const { api, organisationId } = useSession()
  const queryClient = useQueryClient()
  const [name, setName] = useState(stored)
  const rename = useMutation({
    mutationFn: () => api.call('updateFolder', { path: { folder_id: folderId }, payload: { name, organisation_id: organisationId } }),
    async onSuccess() {
      await queryClient.invalidateQueries({ queryKey: ['folders'] })
      notifySuccess(t('folders.renamed'))
      close()
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    rename.mutate()
  }
  return (
    <FormDialog title={t('folders.renameTitle')} isChanged={name !== stored} close={close}>
      <form onSubmit={submit}>
        <Stack>
          <ErrorAlert error={rename.error} />
          <TextInput
            label={t('common.name')}
            required
            data-autofocus
            maxLength={MAX_NAME_LENGTH}
            value={name}
            error={fieldMessage(rename.error, 'name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <FormButtons submitLabel={t('folders.rename')} isPending={rename.isPending} isDisabled={name === stored} close={close} />
        </Stack>
      </form>
    </FormDialog>
  )
}
