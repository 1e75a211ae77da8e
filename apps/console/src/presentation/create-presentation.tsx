import { Button, FileInput, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { Schemas } from '@vitascope/sdk'
import { type FormEvent, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { fieldMessage } from '../api/client.ts'
import { useSession } from '../api/session.tsx'
import { ErrorAlert } from '../layout/error-alert.tsx'
import { notifyError } from '../layout/notify.ts'
import { useUnsavedChanges } from '../layout/unsaved-changes.tsx'
import { SLIDE_FILES, uploadSlides } from './upload-slides.ts'

const MAX_TITLE = 255

/** Form for the presentation of a video, with its first file. */
export function CreatePresentation({ video }: { video: Schemas['Video'] }) {
  const { t } = useTranslation()
  const { api } = useSession()
  const queryClient = useQueryClient()
  const { video_id, organisation_id, video_title } = video
  const [title, setTitle] = useState(video_title)
  const [file, setFile] = useState<File | null>(null)
  const create = useMutation({
    async mutationFn(source: File) {
      const { id } = await api.call('createPresentation', { payload: { title, organisation_id, video_id } })
      try {
        await uploadSlides(api, id, source)
      } catch (error) {
        // The form remains, so that the user can select another file. Without a connection, the presentation remains.
        await api.call('deletePresentation', { path: { id } }).catch(() => notifyError(error))
        throw error
      }
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: ['video', video_id] }),
  })
  useUnsavedChanges(file !== null || title !== video_title)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (file) create.mutate(file)
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">{t('presentation.lead')}</Text>
        <ErrorAlert error={create.error} />
        <TextInput
          label={t('video.title')}
          required
          maxLength={MAX_TITLE}
          value={title}
          error={fieldMessage(create.error, 'title')}
          onChange={(event) => setTitle(event.currentTarget.value)}
        />
        <FileInput
          label={t('presentation.file')}
          description={t('presentation.fileHelp')}
          accept={SLIDE_FILES}
          required
          clearable
          clearButtonProps={{ 'aria-label': t('common.delete') }}
          value={file}
          onChange={setFile}
        />
        <Group>
          <Button type="submit" loading={create.isPending} disabled={!file}>
            {t('presentation.create')}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
